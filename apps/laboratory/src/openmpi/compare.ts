import { BenchError, jsonLines, median, mpirunFlags, type ProgramRun } from "dfccl/internal/measurement";
import type { OpenMpi } from "./require-openmpi.js";

/** One thing to measure on both sides. */
export interface Case {
  readonly ranks: number;
  /** Of one all-reduce, or of all tensors of a list. */
  readonly bytes: number;
  /** A list of tensors instead of one all-reduce: in random orders here, in one order on every rank there. */
  readonly tensors?: string;
}

export interface ComparisonRow {
  readonly bytes: number;
  readonly ranks: number;
  /** Median over the repetitions, each a process of its own. */
  readonly oursUs: number;
  readonly openmpiUs: number;
  /** How many times faster: openmpiUs / oursUs. */
  readonly ratio: number;
  readonly tensors?: string;
  /** Of each repetition, in the order in which they ran: ours, theirs, ours, theirs. */
  readonly runs: readonly { readonly oursUs: number; readonly openmpiUs: number }[];
}

/** How to measure a case on each side. Each resolves to a program's output. */
export interface Sides {
  readonly ours: (one: Case) => Promise<string>;
  readonly openmpi: (one: Case) => Promise<string>;
}

/**
 * Ours, theirs, ours, theirs … in one go, so that whatever the machine does to one side it does to the other.
 * @throws {BenchError} WRONG_RESULTS, PROGRAM_FAILED
 */
export async function compare(one: Case, repetitions: number, sides: Sides, onRun: () => void = () => undefined): Promise<ComparisonRow> {
  const runs: { oursUs: number; openmpiUs: number }[] = [];
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    const oursUs = readMicros("dfccl", await sides.ours(one));
    onRun();
    const openmpiUs = readMicros("openmpi", await sides.openmpi(one));
    onRun();
    runs.push({ oursUs, openmpiUs });
  }
  const oursUs = median(runs.map((run) => run.oursUs));
  const openmpiUs = median(runs.map((run) => run.openmpiUs));
  const { bytes, ranks, tensors } = one;
  return { bytes, ranks, oursUs, openmpiUs, ratio: openmpiUs / oursUs, ...(tensors ? { tensors } : {}), runs };
}

/** The one measurement in a program's output: microseconds, its results checked. */
function readMicros(engine: "dfccl" | "openmpi", output: string): number {
  const [row, ...more] = jsonLines(output).filter((line) => line.engine === engine);
  if (row === undefined || more.length > 0 || typeof row.us !== "number" || !(row.us > 0)) {
    throw new BenchError("PROGRAM_FAILED", `The ${engine} program measured nothing that can be read.`, "See what it wrote.", { output });
  }
  if (row.wrong !== 0) {
    throw new BenchError(
      "WRONG_RESULTS",
      `${String(row.wrong)} elements of ${engine}'s results are wrong.`,
      "Its time says nothing; find out why first.",
      { row },
    );
  }
  return row.us;
}

/** The command lines of both sides. */
export interface Commands {
  readonly ours: (one: Case) => ProgramRun;
  readonly openmpi: (one: Case) => ProgramRun;
}

export function commandsOf(
  programs: string,
  { mpirun, program }: OpenMpi,
  options: { readonly mode: string; readonly budgetSeconds: number; readonly iterations: number; readonly isRoot: boolean },
): Commands {
  const what = ({ bytes, tensors }: Case): string[] =>
    tensors
      ? ["--tensors", tensors, "--iterations", String(options.iterations)]
      : ["--bytes", String(bytes), "--budget", String(options.budgetSeconds)];
  const mpirunWith = (one: Case, started: readonly string[]): ProgramRun => ({
    command: mpirun,
    args: [...mpirunFlags(options.isRoot), "-np", String(one.ranks), ...started, ...what(one)],
  });
  const inOneProcess = (one: Case): ProgramRun => ({
    command: `${programs}/allreduce_bench`,
    args: [
      "--ranks",
      String(one.ranks),
      "--mode",
      options.mode,
      "--probe",
      "no",
      ...what(one),
      ...(one.tensors ? ["--order", "random"] : []),
    ],
  });
  return {
    ours: options.mode === "processes" ? (one) => mpirunWith(one, [`${programs}/allreduce_processes_bench`]) : inOneProcess,
    openmpi: (one) => mpirunWith(one, [program]),
  };
}
