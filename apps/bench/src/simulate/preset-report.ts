import type { Chart } from "../charts/chart.js";
import type { ReportTable } from "../charts/html-report.js";
import { formatSeconds, formatTable } from "../terminal/table.js";

/** What a simulation found, in the forms in which it can be shown. */
export interface PresetReport {
  readonly title: string;
  readonly lead: string;
  /** For --json. */
  readonly rows: readonly unknown[];
  readonly tables: readonly ReportTable[];
  /** A line behind the tables. */
  readonly note?: string;
  readonly charts: readonly Chart[];
}

export function reportText({ tables, note }: PresetReport): string {
  const texts = tables.map(({ title, header, rows }) => `${title === undefined ? "" : `${title}\n`}${formatTable(rows, header)}`);
  return `${texts.join("\n\n")}${note === undefined ? "" : `\n  ${note}`}`;
}

export function nanoseconds(value: number): string {
  return value === 0 ? "0" : formatSeconds(value / 1e9);
}
