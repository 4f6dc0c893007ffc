import { type PathOrFileDescriptor, writeFileSync } from "node:fs";
import type { CollectiveName } from "@dfccl/collective-tests";
import { buildProgram, createProgram, encodeAllRanks, type InputTerm, type Program, type Step, verifyProgram } from "@dfccl/primitives";

/** Programs for tests that aren't collectives of the engine's own, or are built-in out of place only. */
export interface EnginePrograms {
  readonly outOfPlace?: Program;
  readonly inPlace?: Program;
}

/**
 * @param ranks - 2 or more: with one rank everything is a copy, which the engine has.
 * @param lanes - blocks, each with its part of every chunk.
 */
export function enginePrograms(collective: CollectiveName, ranks: number, lanes: number): EnginePrograms {
  if (ranks < 2) return {};
  switch (collective) {
    case "hypercube": {
      // With two ranks there is one round, in which each gives all that it has.
      const algorithm = ranks === 2 ? "direct" : "direct-recursive-doubling";
      const program = buildProgram({ collective: "all-gather", algorithm, ranks, inPlace: "either", channels: lanes });
      return { outOfPlace: program, inPlace: program };
    }
    case "alltoall":
      return { inPlace: buildProgram({ collective: "all-to-all", algorithm: "direct", ranks, inPlace: true, channels: lanes }) };
    case "sendrecv":
      return { outOfPlace: exchange(ranks, lanes, (from, to) => (to === (from + 1) % ranks ? 1 : 0)) };
    case "alltoallv":
      return { outOfPlace: exchange(ranks, lanes, (from, to) => (from + to) % ranks) };
    default:
      return {};
  }
}

/**
 * Every rank writes what it has for each other rank straight into that rank's output, packed in the order of the ranks.
 * @param chunks - how many one rank has for another; every rank must send and receive as many in all.
 */
function exchange(ranks: number, lanes: number, chunks: (from: number, to: number) => number): Program {
  const everyRank = Array.from({ length: ranks }, (_, rank) => rank);
  const before = (list: readonly number[], end: number): number => list.slice(0, end).reduce((sum, n) => sum + n, 0);
  const sent = everyRank.map((from) => everyRank.map((to) => chunks(from, to)));
  const received = everyRank.map((to) => everyRank.map((from) => chunks(from, to)));
  const moves = everyRank.flatMap((from) =>
    // Beginning with the next rank, so that they don't all write to the same one at a time.
    everyRank
      .map((distance) => (from + 1 + distance) % ranks)
      .flatMap((to) => {
        const [first, place] = [before(sent[from] ?? [], to), before(received[to] ?? [], from)];
        return Array.from({ length: chunks(from, to) }, (_, i) => ({ from, to, input: first + i, output: place + i }));
      }),
  );
  const steps = (rank: number, lane: number): Step[] =>
    moves
      .filter(({ from }) => from === rank)
      .map(({ to, input, output }): Step => {
        const sources = [{ rank, buffer: "input", chunk: input * lanes + lane } as const];
        return { op: "multiReduceCopy", count: 1, sources, destinations: [{ rank: to, buffer: "output", chunk: output * lanes + lane }] };
      });
  const segments = before(sent[0] ?? [], ranks);
  const program = createProgram({
    collective: "custom",
    chunksPerSegment: lanes,
    inputSegments: segments,
    outputSegments: segments,
    inPlace: false,
    outOfPlace: true,
    ranks: everyRank.map((rank) => ({ blocks: Array.from({ length: lanes }, (_, lane) => steps(rank, lane)) })),
  });
  const origin = new Map(
    moves.map(({ from, to, input, output }): [string, InputTerm] => [`${to}:${output}`, { rank: from, chunk: input }]),
  );
  verifyProgram(program, {
    postcondition: (rank, chunk) => {
      const lane = chunk % lanes;
      const term = origin.get(`${rank}:${(chunk - lane) / lanes}`);
      return term && [{ ...term, chunk: term.chunk * lanes + lane }];
    },
  });
  return program;
}

/** Every rank's bytes, each after its length: what the native loop reads. */
export function writePrograms(to: PathOrFileDescriptor, program: Program): void {
  const parts = encodeAllRanks(program).flatMap((bytes) => {
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, bytes.byteLength, true);
    return [length, bytes];
  });
  writeFileSync(to, Buffer.concat(parts));
}
