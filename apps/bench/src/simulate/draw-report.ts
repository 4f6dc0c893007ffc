import type { PresetReport } from "./preset-report.js";
import { type DrawingFlags, writeDrawings } from "./write-report.js";

/** Draws what was asked for. @returns a line for each file. */
export async function drawReport(flags: DrawingFlags, report: PresetReport, madeBy: string): Promise<string[]> {
  const written = await writeDrawings(flags, {
    title: report.title,
    lead: report.lead,
    sections: [
      ...report.tables.map((table) => ({ heading: table.title ?? report.title, table: { header: table.header, rows: table.rows } })),
      ...report.charts.map((chart) => ({ heading: chart.title, chart })),
    ],
    madeBy,
  });
  return written.map((path) => `Drawn in ${path}.`);
}
