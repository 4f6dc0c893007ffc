import {
  bandwidthOf,
  type CollectiveName,
  casesOf,
  collectiveFacts,
  isMeasured,
  type MeasuredRow,
  type Measurement,
  type OpenBackend,
  type PerfCase,
  type PerfOptions,
  parseArguments,
  ranksOf,
} from "@dfccl/collective-tests";
import { BenchError } from "../peers/bench-error.js";
import { median } from "../peers/median.js";

/** Whether each operation is waited for before the next begins, or all at the end. */
export const modes = ["one at a time", "back to back"] as const;
export type Mode = (typeof modes)[number];

/** Which ranks run all collectives, and how. */
export interface RankSetting {
  readonly ranks: number;
  readonly mode: Mode;
  /** Whether a thread drives each rank, or one all. */
  readonly hasThreads: boolean;
}

/** One collective of one size on both sides. */
export interface CollectiveRow extends RankSetting {
  readonly collective: CollectiveName;
  /** Of the larger buffer of a rank. */
  readonly bytes: number;
  /** Medians over the repetitions, microseconds an operation. */
  readonly oursUs: number;
  readonly peerUs: number;
  /** How many times faster: peerUs / oursUs. */
  readonly ratio: number;
  /** Bus bandwidth, GB/s. */
  readonly oursGBs: number;
  readonly peerGBs: number;
  /** Of each repetition. */
  readonly runs: readonly { readonly oursUs: number; readonly peerUs: number }[];
}

export interface Sides {
  readonly ours: OpenBackend;
  readonly peer: OpenBackend;
}

export interface HowOften {
  readonly repetitions: number;
  /** Divides how often each is repeated. */
  readonly quicken: number;
}

/** What nccl-tests would be asked: float32 sums. */
export function optionsFor({ ranks, mode, hasThreads }: RankSetting): PerfOptions {
  const parsed = parseArguments([
    hasThreads ? "-t" : "-g",
    `${ranks}`,
    "-b",
    "8",
    "-e",
    "8",
    "-z",
    mode === "one at a time" ? "2" : "0",
    "-w",
    "3",
  ]);
  if (parsed.kind !== "run") throw new Error("These arguments ask for a run.");
  return parsed.options;
}

/**
 * One collective at several sizes, out of place: ours, the peer's, ours, the peer's …, each in a program that goes through
 * all sizes, so that whatever the machine does to one side it does to the other.
 * @throws {BenchError} WRONG_RESULTS; {PerfError} where one side fails.
 */
export async function measureCollective(
  collective: CollectiveName,
  setting: RankSetting,
  sizes: readonly number[],
  { repetitions, quicken }: HowOften,
  sides: Sides,
  signal?: AbortSignal,
): Promise<CollectiveRow[]> {
  const options = optionsFor(setting);
  const cases = sizes.flatMap((bytes) => casesOfSize(collective, options, bytes, quicken));
  const measurement = { run: { collective, options, args: [] }, cases, warmUps: cases, cycles: 1, signal };
  const ours = startSide(sides.ours, measurement);
  const peer = startSide(sides.peer, measurement);
  const runs: { ours: number[]; peer: number[] }[] = [];
  try {
    for (let repetition = 0; repetition < repetitions; repetition += 1) {
      runs.push({ ours: await ours.times(repetition), peer: await peer.times(repetition) });
    }
    await ours.end();
    await peer.end();
  } catch (error) {
    ours.stop();
    peer.stop();
    throw error;
  }
  return cases.map((one, i) => {
    const each = runs.map(({ ours, peer }) => ({ oursUs: ours[i] ?? Number.NaN, peerUs: peer[i] ?? Number.NaN }));
    const oursUs = median(each.map((run) => run.oursUs));
    const peerUs = median(each.map((run) => run.peerUs));
    const busOf = (us: number): number => bandwidthOf(collective, one, setting.ranks, us).bus;
    const ratio = peerUs / oursUs;
    return {
      ...setting,
      collective,
      bytes: one.bytes,
      oursUs,
      peerUs,
      ratio,
      oursGBs: busOf(oursUs),
      peerGBs: busOf(peerUs),
      runs: each,
    };
  });
}

/**
 * @param bytes - wanted, of a rank's larger buffer.
 * @param quicken - divides how often each is repeated.
 */
export function casesOfSize(collective: CollectiveName, options: PerfOptions, bytes: number, quicken: number): PerfCase[] {
  // A rank's share is whole 16 bytes: less would be nothing.
  const least = collectiveFacts(collective).isShared ? Math.max(bytes, 16 * ranksOf(options)) : bytes;
  return casesOf(collective, { ...options, minbytes: least, maxbytes: least }).map((one) => ({
    ...one,
    iterations: iterationsOf(least, quicken),
  }));
}

/** Long enough for the clock, short enough for patience: some tens of milliseconds. */
function iterationsOf(bytes: number, quicken: number): number {
  const often = bytes <= 4096 ? 1000 : bytes <= 65_536 ? 400 : bytes <= 2 ** 20 ? 60 : bytes <= 2 ** 24 ? 8 : 3;
  return Math.max(2, Math.round(often / quicken));
}

/** Goes through all cases, as often as it is asked: in a program that stays, or in a new one each time. */
interface Side {
  times(repetition: number): Promise<number[]>;
  end(): Promise<void>;
  stop(): void;
}

function startSide(backend: OpenBackend, measurement: Measurement): Side {
  const { collective } = measurement.run;
  if (backend.startTurns) {
    const turns = backend.startTurns(measurement);
    return {
      async times(repetition) {
        const times: number[] = [];
        for (const row of measurement.cases.keys()) times.push(timeOf(await turns.measure(row, repetition), collective));
        return times;
      },
      end: () => turns.end(),
      stop: () => turns.stop(),
    };
  }
  return {
    async times() {
      const times: number[] = [];
      await backend.measure(measurement, (row) => times.push(timeOf(row, collective)));
      return times;
    },
    end: () => Promise.resolve(),
    stop: () => {},
  };
}

/**
 * Microseconds an operation out of place.
 * @throws {BenchError} WRONG_RESULTS, also of what was right out of place only.
 */
export function timeOf({ backend, outOfPlace, inPlace, case: { bytes } }: MeasuredRow, what: string): number {
  if (!isMeasured(outOfPlace)) throw new Error(outOfPlace.refusal);
  for (const [where, side] of [["out of place", outOfPlace] as const, ["in place", inPlace] as const]) {
    if (!isMeasured(side) || side.wrong === 0 || (side.wrong === null && side === inPlace)) continue;
    const wrong = `${side.wrong ?? "Unchecked"} elements of ${backend}'s ${what} of ${bytes} bytes, ${where}, are wrong.`;
    throw new BenchError("WRONG_RESULTS", wrong, "Its time says nothing; find out why first.");
  }
  return outOfPlace.us;
}
