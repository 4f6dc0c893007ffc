import {
  formatBytes,
  formatCountOf,
  formatSeconds,
  formatTable,
  markdownTable,
  type ReportHeader,
  reportPage,
} from "dfccl/internal/measurement";
import type { ComparisonRow } from "./compare.js";

export interface MpiReport {
  readonly header: ReportHeader & { readonly mode: string; readonly repetitions: number };
  readonly rows: readonly ComparisonRow[];
}

const columns = ["all-reduce", "ranks", "dfccl", "OpenMPI", "times faster"];

function cells({ bytes, ranks, oursUs, openmpiUs, ratio, tensors }: ComparisonRow): string[] {
  const what = tensors ? "ResNet-50's 161 tensors" : formatBytes(bytes);
  return [what, String(ranks), formatSeconds(oursUs / 1e6), formatSeconds(openmpiUs / 1e6), formatRatio(ratio)];
}

function formatRatio(ratio: number): string {
  return `${ratio.toFixed(ratio < 10 ? 1 : 0)}×`;
}

export function describeRows(rows: readonly ComparisonRow[]): string {
  return formatTable(rows.map(cells), columns);
}

/** What the rows show, in one sentence. */
export function mpiVerdict(rows: readonly ComparisonRow[]): string {
  const ratios = rows.map(({ ratio }) => ratio);
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map(formatRatio);
  return rows.length === 1 ? `dfccl is ${least} as fast as OpenMPI.` : `dfccl is from ${least} to ${most} as fast as OpenMPI.`;
}

const modes: Readonly<Record<string, string>> = {
  caller: "one thread submits for all ranks and helps while it waits, beside one worker for each further core",
  threads: "each rank has a thread of its own, which submits, waits and steps its own rank",
  workers: "one thread submits and sleeps, a worker for each core does the rest",
  processes: "one rank a process, both under mpirun; each submits, waits and steps its own rank",
};

export function describeMode(mode: string): string {
  return modes[mode] ?? mode;
}

export function mpiMarkdown({ header, rows }: MpiReport): string {
  const how = [
    `dfccl in mode "${header.mode}": ${describeMode(header.mode)}`,
    `medians of ${formatCountOf(header.repetitions, "run")} a side, ours and OpenMPI's by turns`,
  ];
  return reportPage(
    "All-reduce: dfccl and OpenMPI on this machine",
    header,
    how,
    `Float32 sums, out of place, the whole way from submission through queue, daemon and completion; every result is checked.
The list of tensors runs in random orders in dfccl, and in one order on every rank in OpenMPI, which deadlocks otherwise.

${markdownTable(columns, rows.map(cells))}
`,
  );
}
