import { formatBytes, formatSeconds, formatTable, markdownTable, type ReportHeader, reportPage } from "dfccl/internal/measurement";

/** A compiled ring on the engine and the same ring written by hand, in turns; medians over the turns. */
export interface InterpreterRow {
  readonly ranks: number;
  readonly bytes: number;
  readonly engineUs: number;
  readonly handUs: number;
  /** Median of the turns' ratios: engine by hand-written. */
  readonly ratio: number;
}

export interface InterpreterReport {
  readonly header: ReportHeader;
  readonly rows: readonly InterpreterRow[];
}

const columns = ["bytes", "ranks", "compiled", "by hand", "ratio"];

export function describeInterpreter(rows: readonly InterpreterRow[]): string {
  return formatTable(rows.map(cells), columns);
}

export function interpreterMarkdown({ header, rows }: InterpreterReport): string {
  const how = [
    "one thread steps all ranks in both; the hand-written ring moves the same tiles through slots of the same size with the same kernel",
    "medians of turns, which alternate; the ratio is the median of the turns' ratios",
  ];
  const body = [
    "A compiled ring all-reduce of float32, out of place, with submission, daemon and completion, beside a loop that knows nothing but this ring:",
    "what it costs that the program is data, and may be preempted at every step. Every result is checked.",
    "",
    markdownTable(columns, rows.map(cells)),
    "",
  ].join("\n");
  return reportPage("A compiled ring beside one written by hand", header, how, body);
}

function cells({ bytes, ranks, engineUs, handUs, ratio }: InterpreterRow): string[] {
  return [formatBytes(bytes), String(ranks), formatSeconds(engineUs / 1e6), formatSeconds(handUs / 1e6), ratio.toFixed(2)];
}
