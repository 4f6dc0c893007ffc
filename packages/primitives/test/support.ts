import { buildersOf } from "../src/builders/algorithms.js";
import type { Builder } from "../src/builders/builder.js";
import {
  type BuildableCollective,
  type BuildOptions,
  hasInput,
  hasOutput,
  type InterpretResult,
  interpretProgram,
  listAlgorithms,
  type Placement,
  type Program,
  postconditionOf,
  type ReduceOp,
  takesReduceOp,
  takesRoot,
} from "../src/index.js";
import { SeededRandom } from "../src/random.js";

export const everyCollective = Object.keys(buildersOf) as BuildableCollective[];
export const everyPlacement: readonly Placement[] = [false, true, "either"];

/**
 * Every different way to build a program for a collective on this many ranks: algorithm, placement, root, channels.
 * Where one program serves several placements, only the first of them.
 */
export function* everyBuild(collective: BuildableCollective, ranks: number, channelsUpTo = 3): Generator<BuildOptions> {
  const roots = takesRoot(collective) ? Array.from({ length: ranks }, (_, root) => root) : [undefined];
  const seen = new Set<Builder | undefined>();
  for (const inPlace of everyPlacement) {
    for (const algorithm of listAlgorithms(collective, ranks, inPlace)) {
      const builder = buildersOf[collective][algorithm]?.find(
        (candidate) => (inPlace === false || candidate.inPlace) && (inPlace === true || candidate.outOfPlace),
      );
      if (seen.has(builder)) continue;
      seen.add(builder);
      const mostChannels = Math.min(channelsUpTo, builder?.maxChannels ?? channelsUpTo);
      for (const root of roots) {
        for (let channels = 1; channels <= mostChannels; channels += 1) {
          yield { collective, algorithm, ranks, inPlace, root, channels };
        }
      }
    }
  }
}

export interface Trial {
  readonly count: number;
  readonly op: ReduceOp;
  readonly seed: number;
  readonly tileElements?: number;
  readonly inPlace?: readonly boolean[];
}

/** Numbers small enough that any order of reduction gives the same bits. */
export function makeInputs(program: Program, count: number, seed: number): number[][] {
  const random = new SeededRandom(seed);
  return program.ranks.map((_, rank) =>
    hasInput(program.collective, rank, program.root)
      ? Array.from({ length: program.inputSegments * count }, () => 1 + random.below(8))
      : [],
  );
}

/** Runs a program on numbers. */
export function runTrial(program: Program, trial: Trial): InterpretResult {
  const { tileElements, inPlace } = trial;
  return interpretProgram(program, {
    inputs: makeInputs(program, trial.count, trial.seed),
    count: trial.count,
    op: trial.op,
    scalars: program.ranks.map((_, rank) => rank + 2),
    seed: trial.seed,
    ...(tileElements === undefined ? {} : { tileElements }),
    ...(inPlace === undefined ? {} : { inPlace }),
  });
}

/** What the collective's definition gives for the same inputs, element by element, with no chunks or messages. */
export function expectedOutputs(program: Program, { count, op, seed }: Trial): number[][] {
  const inputs = makeInputs(program, count, seed);
  const rankCount = program.ranks.length;
  // Seen as a program of one chunk a segment, an element of a segment is where its chunk is.
  const expectedTerms = postconditionOf({ ...program, chunksPerSegment: 1 });
  const reduces = takesReduceOp(program.collective);
  return program.ranks.map((_, rank) => {
    if (!hasOutput(program.collective, rank, program.root)) return [];
    return Array.from({ length: program.outputSegments * count }, (_, element) => {
      const terms = expectedTerms(rank, Math.floor(element / Math.max(1, count))) ?? [];
      const values = terms.map(({ rank: from, chunk }) => {
        const value = inputs[from]?.[chunk * count + (element % count)] ?? NaN;
        return reduces && op === "scaled-sum" ? value * (from + 2) : value;
      });
      if (!reduces) return values[0] ?? NaN;
      const reduced = values.reduce((a, b) => {
        if (op === "prod") return a * b;
        if (op === "min") return Math.min(a, b);
        if (op === "bit-and") return a & b;
        if (op === "bit-or") return a | b;
        if (op === "bit-xor") return a ^ b;
        return op === "max" ? Math.max(a, b) : a + b;
      });
      return op === "avg" ? reduced / rankCount : reduced;
    });
  });
}
