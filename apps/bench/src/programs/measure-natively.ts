import { type CollectiveName, type Measurement, type OpenBackend, type PerfCase, type Turns, turnsOf } from "@dfccl/collective-tests";
import { type Collective, InvalidArgumentError } from "@dfccl/primitives";
import { casesOfSize, type Mode, optionsFor, timeOf } from "../collectives/measure.js";
import { median } from "../peers/median.js";
import type { SizeResult } from "./program-table.js";

/** Something that takes part: a program, what the engine chooses, or another library. */
export interface NativeContender {
  readonly name: string;
  readonly backend: OpenBackend;
  /** Number of a program that the backend was given, from 1; without it, what the library chooses. */
  readonly choice?: number;
  /** Beyond, it takes no part. */
  readonly largestBytes: number;
}

export interface NativeMeasureOptions {
  readonly collective: CollectiveName;
  readonly ranks: number;
  readonly root: number | undefined;
  /** Of a rank's larger buffer; ascending. */
  readonly sizes: readonly number[];
  readonly mode: Mode;
  /** Turns of each. */
  readonly rounds: number;
  /** Divides how often a turn repeats an operation. */
  readonly quicken: number;
  readonly signal: AbortSignal;
  readonly onTurn?: (bytes: number) => void;
}

const testOf: Readonly<Partial<Record<Collective, CollectiveName>>> = {
  "all-reduce": "all_reduce",
  "all-gather": "all_gather",
  "reduce-scatter": "reduce_scatter",
  reduce: "reduce",
  broadcast: "broadcast",
  "all-to-all": "alltoall",
  gather: "gather",
  scatter: "scatter",
};

/** @throws {InvalidArgumentError} for a collective that the collective tests don't have. */
export function testFor(collective: Collective): CollectiveName {
  const test = testOf[collective];
  if (test === undefined) throw new InvalidArgumentError("collective", collective, `one of ${Object.keys(testOf).join(", ")}`);
  return test;
}

/**
 * Times contenders in the native loop of the collective tests, a thread a rank, out of place; every result is compared to
 * the bit, in place too. At each size they take turns, so that what the machine does to one it does to all.
 * @throws {BenchError} WRONG_RESULTS; {PerfError} where a backend fails.
 */
export async function measureNatively(contenders: readonly NativeContender[], options: NativeMeasureOptions): Promise<SizeResult[]> {
  const { collective, ranks, root = 0, mode, quicken, rounds, signal } = options;
  const perfOptions = { ...optionsFor({ ranks, mode, hasThreads: true }), root };
  const sides = new Map<OpenBackend, { readonly cases: PerfCase[]; turns?: Turns }>();
  const results = options.sizes.map((wanted) => {
    const entries = contenders.flatMap((contender) => {
      const [one] = casesOfSize(collective, perfOptions, wanted, quicken);
      if (one === undefined || wanted > contender.largestBytes) return [];
      const side = sides.get(contender.backend) ?? { cases: [] };
      sides.set(contender.backend, side);
      side.cases.push({ ...one, ...(contender.choice === undefined ? {} : { program: contender.choice }) });
      return [{ name: contender.name, side, row: side.cases.length - 1, samples: [] as number[] }];
    });
    return { bytes: entries[0]?.side.cases[entries[0].row]?.bytes ?? wanted, entries };
  });
  try {
    for (const [backend, side] of sides) {
      const run = { collective, options: perfOptions, args: [] };
      const measurement: Measurement = { run, cases: side.cases, warmUps: side.cases, cycles: 1, signal };
      side.turns = turnsOf(backend, measurement);
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const { bytes, entries } of results) {
        for (const { name, side, row, samples } of entries) {
          signal.throwIfAborted();
          const measured = await side.turns?.measure(row, round);
          if (measured !== undefined) samples.push(timeOf(measured, name) / 1e6);
        }
        options.onTurn?.(bytes);
      }
    }
    for (const { turns } of sides.values()) await turns?.end();
  } catch (error) {
    for (const { turns } of sides.values()) turns?.stop();
    throw error;
  }
  return results.map(({ bytes, entries }) => ({
    bytes,
    measured: entries.map(({ name, samples }) => ({ name, seconds: median(samples), samples })),
  }));
}
