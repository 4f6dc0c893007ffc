import {
  type CollectiveName,
  casesOf,
  collectiveFacts,
  isMeasured,
  type Measurement,
  type OpenBackend,
  type PerfCase,
  type PerfOptions,
  parseArguments,
} from "@dfccl/collective-tests";
import { BenchError } from "../peers/bench-error.js";
import { median } from "../peers/median.js";

/** One collective of one size on both sides. */
export interface CollectiveRow {
  readonly collective: CollectiveName;
  readonly ranks: number;
  /** Of the larger buffer of a rank. */
  readonly bytes: number;
  /** Medians over the repetitions, microseconds an operation. */
  readonly oursUs: number;
  readonly openmpiUs: number;
  /** How many times faster: openmpiUs / oursUs. */
  readonly ratio: number;
  /** Of each repetition. */
  readonly runs: readonly { readonly oursUs: number; readonly openmpiUs: number }[];
}

export interface Sides {
  readonly ours: OpenBackend;
  readonly openmpi: OpenBackend;
}

/** What nccl-tests would be asked: float32 sums, out of place, each operation waited for before the next begins. */
export function optionsFor(ranks: number): PerfOptions {
  const parsed = parseArguments(["-g", String(ranks), "-b", "8", "-e", "8", "-z", "2", "-w", "3"]);
  if (parsed.kind !== "run") throw new Error("These arguments ask for a run.");
  return parsed.options;
}

/**
 * One collective at several sizes: ours, OpenMPI's, ours, OpenMPI's …, each in a process of its own that goes through all
 * sizes, so that whatever the machine does to one side it does to the other.
 * @param quicken - divides how often each is repeated.
 * @throws {BenchError} WRONG_RESULTS; {PerfError} where one side fails.
 */
export async function measureCollective(
  collective: CollectiveName,
  ranks: number,
  sizes: readonly number[],
  repetitions: number,
  quicken: number,
  sides: Sides,
  signal?: AbortSignal,
): Promise<CollectiveRow[]> {
  const options = optionsFor(ranks);
  const cases = sizes.flatMap((wanted) => {
    // A rank's share is whole 16 bytes: less would be nothing.
    const bytes = collectiveFacts(collective).isShared ? Math.max(wanted, 16 * ranks) : wanted;
    return casesOf(collective, { ...options, minbytes: bytes, maxbytes: bytes }).map((one) => ({
      ...one,
      iterations: iterationsOf(bytes, quicken),
    }));
  });
  const measurement = { run: { collective, options, args: [] }, cases, warmUps: cases, cycles: 1, signal };
  const runs: { ours: number[]; openmpi: number[] }[] = [];
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    runs.push({ ours: await timesOf(sides.ours, measurement), openmpi: await timesOf(sides.openmpi, measurement) });
  }
  return cases.map(({ bytes }, i) => {
    const each = runs.map(({ ours, openmpi }) => ({ oursUs: ours[i] ?? Number.NaN, openmpiUs: openmpi[i] ?? Number.NaN }));
    const oursUs = median(each.map((run) => run.oursUs));
    const openmpiUs = median(each.map((run) => run.openmpiUs));
    return { collective, ranks, bytes, oursUs, openmpiUs, ratio: openmpiUs / oursUs, runs: each };
  });
}

/** Long enough for the clock, short enough for patience: some tens of milliseconds. */
function iterationsOf(bytes: number, quicken: number): number {
  const often = bytes <= 4096 ? 1000 : bytes <= 65_536 ? 400 : bytes <= 2 ** 20 ? 60 : bytes <= 2 ** 24 ? 8 : 3;
  return Math.max(2, Math.round(often / quicken));
}

async function timesOf(backend: OpenBackend, measurement: Measurement & { readonly cases: readonly PerfCase[] }): Promise<number[]> {
  const times: number[] = [];
  await backend.measure(measurement, ({ backend: name, outOfPlace, case: { bytes } }) => {
    if (!isMeasured(outOfPlace)) throw new Error(outOfPlace.refusal);
    if (outOfPlace.wrong !== 0) {
      const what = `${outOfPlace.wrong} elements of ${name}'s ${measurement.run.collective} of ${bytes} bytes are wrong.`;
      throw new BenchError("WRONG_RESULTS", what, "Its time says nothing; find out why first.");
    }
    times.push(outOfPlace.us);
  });
  return times;
}
