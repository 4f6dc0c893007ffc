import { type BufferKind, protocols } from "@dfccl/primitives";
import { allReduce, custom, defineProgram, type Language, type ProgramDefinition } from "../../src/index.js";
import { DirectLanguage } from "./direct-language.js";
import { Seeded } from "./seeded.js";

interface Spot {
  readonly rank: number;
  readonly buffer: BufferKind;
  readonly index: number;
}

interface Act {
  readonly kind: "copy" | "reduce";
  readonly src: Spot;
  readonly dst: Spot;
  readonly count: number;
  readonly channel: number | undefined;
}

/** Consecutive acts that one `parallelize` is around. */
interface Group {
  readonly factor: number;
  readonly acts: readonly Act[];
}

interface RandomBody {
  readonly ranks: number;
  readonly inputChunks: number;
  readonly outputChunks: number;
  readonly groups: readonly Group[];
}

/** Any copies and reductions between any ranks, and whatever comes of it is what the collective promises. */
export function randomCustomProgram(seed: number): ProgramDefinition<"output" | "scratch"> {
  const random = new Seeded(seed);
  const body = randomBody(random);
  const direct = new DirectLanguage(body.ranks);
  for (const { acts } of body.groups) for (const act of acts) perform(direct, act);
  const { ranks, inputChunks, outputChunks } = body;
  const collective = custom({ name: `random ${seed}`, ranks, inputChunks, outputChunks, postcondition: direct.postcondition() });
  const options = { collective, instances: 1 + random.below(3), protocol: random.pick(protocols), slotCount: 1 + random.below(4) };
  return defineProgram(options, (language) => {
    for (const { factor, acts } of body.groups) {
      language.parallelize(factor, () => {
        for (const act of acts) performTyped(language, act);
      });
    }
  });
}

function perform(language: DirectLanguage, { kind, src, dst, count }: Act): void {
  const from = language.chunk(src.rank, src.buffer, src.index, count);
  if (kind === "copy") from.copy(dst.rank, dst.buffer, dst.index);
  else language.chunk(dst.rank, dst.buffer, dst.index, count).reduce(from);
}

function performTyped(language: Language<"output" | "scratch">, { kind, src, dst, count, channel }: Act): void {
  const from = language.chunk(src.rank, src.buffer, src.index, count);
  const directive = { channel: src.rank === dst.rank ? undefined : channel };
  if (kind === "copy") from.copy(dst.rank, dst.buffer as "output" | "scratch", dst.index, directive);
  else language.chunk(dst.rank, dst.buffer, dst.index, count).reduce(from, directive);
}

function randomBody(random: Seeded): RandomBody {
  const ranks = 2 + random.below(3);
  const sizes = { input: 1 + random.below(3), output: 1 + random.below(3), scratch: 1 + random.below(3) };
  const usesChannels = random.chance(0.4);
  // Terms of each chunk that holds something; reductions of reductions would grow without end.
  const held = new Map<string, number>();
  const key = ({ rank, buffer, index }: Spot, offset = 0): string => `${rank} ${buffer} ${index + offset}`;
  for (let rank = 0; rank < ranks; rank += 1) {
    for (let index = 0; index < sizes.input; index += 1) held.set(key({ rank, buffer: "input", index }), 1);
  }
  const spot = (buffers: readonly BufferKind[], count: number): Spot => {
    const buffer = random.pick(buffers.filter((name) => sizes[name] >= count));
    return { rank: random.below(ranks), buffer, index: random.below(sizes[buffer] - count + 1) };
  };
  const termsOf = (at: Spot, count: number): number =>
    Math.max(...Array.from({ length: count }, (_, i) => held.get(key(at, i)) ?? Infinity));
  const act = (): Act | undefined => {
    const count = random.chance(0.3) && sizes.input > 1 && sizes.output > 1 ? 2 : 1;
    const src = spot(["input", "input", "output", "scratch"], count);
    const dst = spot(["output", "output", "scratch"], count);
    const kind = random.pick(["copy", "reduce"] as const);
    const isApart = src.rank !== dst.rank || src.buffer !== dst.buffer || Math.abs(src.index - dst.index) >= count;
    const terms = termsOf(src, count) + (kind === "reduce" ? termsOf(dst, count) : 0);
    if (!isApart || terms > 20) return undefined;
    for (let i = 0; i < count; i += 1) {
      held.set(key(dst, i), (held.get(key(src, i)) ?? 0) + (kind === "reduce" ? (held.get(key(dst, i)) ?? 0) : 0));
    }
    return { kind, src, dst, count, channel: usesChannels && random.chance(0.6) ? random.below(3) : undefined };
  };
  const groups = Array.from({ length: 2 + random.below(5) }, () => ({
    factor: random.chance(0.3) ? 2 + random.below(2) : 1,
    acts: Array.from({ length: 1 + random.below(9) }, act).filter((one) => one !== undefined),
  }));
  return { ranks, inputChunks: sizes.input, outputChunks: sizes.output, groups };
}

/**
 * An all-reduce, in place or not: every chunk is reduced along a random tree and handed out along another, chunks and
 * neighbours in random order, some of them together, with copies to scratch chunks that nobody needs in between.
 */
export function randomAllReduce(seed: number): ProgramDefinition {
  const random = new Seeded(seed);
  const ranks = 2 + random.below(4);
  const chunks = 1 + random.below(4);
  const usesChannels = random.chance(0.4);
  const collective = allReduce({ ranks, chunks, inPlace: random.pick([true, "either"] as const) });
  const replication = random.pick(["interleaved", "blocked"] as const);
  const options = { instances: 1 + random.below(2), replication, protocol: random.pick(protocols), slotCount: 1 + random.below(4) };
  const bodySeed = random.below(2 ** 31);
  return defineProgram({ ...options, collective }, ({ chunk, parallelize }) => {
    const choose = new Seeded(bodySeed);
    const everyRank = Array.from({ length: ranks }, (_, rank) => rank);
    const directive = () => ({ channel: usesChannels && choose.chance(0.5) ? choose.below(3) : undefined });
    // Shares of the buffer, each of one or more chunks, and what is still to be done for each, in order.
    const works: (() => void)[][] = [];
    for (let index = 0; index < chunks; ) {
      const first = index;
      const count = 1 + choose.below(chunks - index);
      index += count;
      const order = choose.shuffled(everyRank);
      const work = order
        .slice(1)
        .reverse()
        .map((rank, i) => () => {
          const parent = order[choose.below(ranks - 1 - i)] ?? 0;
          chunk(parent, "input", first, count).reduce(chunk(rank, "input", first, count), directive());
          if (choose.chance(0.2)) chunk(rank, "input", 0, chunks).copy(choose.below(ranks), "scratch", 0);
        });
      for (const [i, rank] of order.entries()) {
        if (i > 0) work.push(() => chunk(order[choose.below(i)] ?? 0, "output", first, count).copy(rank, "output", first, directive()));
      }
      works.push(work);
    }
    while (works.some((work) => work.length > 0)) {
      const next = choose.pick(works.filter((work) => work.length > 0)).shift();
      if (next !== undefined) parallelize(choose.chance(0.2) ? 2 : 1, next);
    }
  });
}
