import { defineProgram, type ProgramDefinition } from "../language/define-program.js";
import { allToAll, custom } from "../language/signature.js";
import { type AlgorithmOptions, checkTwoLevels, programPart, range, ranksOf, type TwoLevelOptions } from "./options.js";

/** Everybody sends everybody its share: one round. In place, one of two partners keeps what comes in until its own is out. */
export function allPairsAllToAll(options: AlgorithmOptions & { readonly inPlace?: boolean | undefined }): ProgramDefinition {
  const ranks = ranksOf(options);
  const { inPlace = false } = options;
  const collective = allToAll({ ranks, inPlace: inPlace ? "either" : false });
  return defineProgram({ ...programPart(options, { inPlace: true }), name: "all-to-all all-pairs", collective }, ({ chunk }) => {
    for (const distance of range(ranks)) {
      for (const rank of range(ranks)) {
        const peer = (rank + distance) % ranks;
        const data = chunk(rank, "input", peer);
        if (!inPlace || rank === peer) data.copy(peer, "output", rank);
        else if (rank < peer) {
          const kept = data.copy(peer, "scratch", rank);
          chunk(peer, "input", rank).copy(rank, "output", peer);
          kept.copy(peer, "output", rank);
        }
      }
    }
  });
}

/**
 * First within the node, to the GPU with the number of the receiver; from there all that is for one GPU goes in one message.
 * So a node sends gpus times fewer messages to others: for all-to-alls over slow networks (GC3, section 7.3).
 */
export function twoStepAllToAll(options: TwoLevelOptions): ProgramDefinition {
  checkTwoLevels(options);
  const { nodes, gpus } = options;
  const collective = allToAll({ ranks: nodes * gpus });
  return defineProgram({ ...programPart(options), name: `all-to-all two-step ${nodes} × ${gpus}`, collective }, ({ chunk }) => {
    for (const n of range(nodes)) {
      for (const m of range(nodes)) {
        for (const g of range(gpus)) {
          for (const h of range(gpus)) {
            const data = chunk(n * gpus + g, "input", m * gpus + h);
            if (n === m) data.copy(m * gpus + h, "output", n * gpus + g);
            else data.copy(n * gpus + h, "scratch", m * gpus + g);
          }
        }
        for (const h of range(gpus)) if (n !== m) chunk(n * gpus + h, "scratch", m * gpus, gpus).copy(m * gpus + h, "output", n * gpus);
      }
    }
  });
}

/**
 * All that one node has for another goes in a single message: gathered at one GPU, sent, and handed out there. Fewest and
 * largest messages between nodes, at the price of moving data twice within them.
 */
export function threeStepAllToAll(options: TwoLevelOptions): ProgramDefinition {
  checkTwoLevels(options);
  const { nodes, gpus } = options;
  const collective = allToAll({ ranks: nodes * gpus });
  return defineProgram({ ...programPart(options), name: `all-to-all three-step ${nodes} × ${gpus}`, collective }, ({ chunk }) => {
    const all = gpus * gpus;
    for (const n of range(nodes)) {
      for (const g of range(gpus))
        for (const h of range(gpus)) chunk(n * gpus + g, "input", n * gpus + h).copy(n * gpus + h, "output", n * gpus + g);
      for (const m of range(nodes).filter((other) => other !== n)) {
        const [sender, receiver] = [n * gpus + (m % gpus), m * gpus + (n % gpus)];
        for (const g of range(gpus)) chunk(n * gpus + g, "input", m * gpus, gpus).copy(sender, "scratch", m * all + g * gpus);
        chunk(sender, "scratch", m * all, all).copy(receiver, "scratch", (nodes + n) * all);
        for (const g of range(gpus)) {
          for (const h of range(gpus))
            chunk(receiver, "scratch", (nodes + n) * all + g * gpus + h).copy(m * gpus + h, "output", n * gpus + g);
        }
      }
    }
  });
}

/**
 * Rank r's buffer goes to rank r + 1. Between nodes it is cut up and goes over all GPUs' links at once, so that a node with
 * several network cards uses them all (GC3, section 7.4). Count is the elements of one of the `gpus` chunks.
 */
export function allToNext(options: TwoLevelOptions): ProgramDefinition {
  checkTwoLevels(options);
  const { nodes, gpus } = options;
  const ranks = nodes * gpus;
  const postcondition = (rank: number, chunk: number) => (rank === 0 ? undefined : [{ rank: rank - 1, chunk }]);
  const collective = custom({ name: "all-to-next", ranks, inputChunks: gpus, outputChunks: gpus, postcondition });
  return defineProgram<"output" | "scratch">(
    { ...programPart(options), name: `all-to-next ${nodes} × ${gpus}`, collective },
    ({ chunk }) => {
      for (const rank of range(ranks - 1)) {
        const isLastOfNode = rank % gpus === gpus - 1;
        if (!isLastOfNode) chunk(rank, "input", 0, gpus).copy(rank + 1, "output");
        for (const g of range(isLastOfNode ? gpus : 0)) {
          const near = rank - gpus + 1 + g;
          const outgoing = near === rank ? chunk(rank, "input", g) : chunk(rank, "input", g).copy(near, "scratch", 0);
          if (g === 0) outgoing.copy(rank + 1, "output", 0);
          else outgoing.copy(near + gpus, "scratch", 1).copy(rank + 1, "output", g);
        }
      }
    },
  );
}
