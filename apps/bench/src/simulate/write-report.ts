import { join } from "node:path";
import { makeFolder } from "@dfccl/core";
import type { Chart } from "../charts/chart.js";
import type { Report } from "../charts/html-report.js";
import { writeOutput } from "../outputs/write-output.js";

/** Where to write what is drawn. */
export interface DrawingFlags {
  /** A file, for all in one. */
  readonly report?: string;
  /** A folder, for each chart as a file of its own. */
  readonly svg?: string;
}

/** Writes what was asked for. @returns what was written. */
export async function writeDrawings(
  { report, svg }: DrawingFlags,
  content: Report,
  drawings: readonly Drawing[] = [],
): Promise<readonly string[]> {
  const written: string[] = [];
  // Loaded where something is drawn: the library is large.
  if (report !== undefined) {
    const { htmlReport } = await import("../charts/html-report.js");
    writeOutput(report, htmlReport(content));
    written.push(report);
  }
  if (svg !== undefined) {
    const { renderSvg } = await import("../charts/render-svg.js");
    makeFolder(svg);
    const charts = content.sections.flatMap(({ chart }) => chart ?? []);
    for (const drawing of [...charts.map((chart: Chart): Drawing => ({ name: chart.name, svg: renderSvg(chart) })), ...drawings]) {
      const path = join(svg, `${drawing.name}.svg`);
      writeOutput(path, drawing.svg);
      written.push(path);
    }
  }
  return written;
}

/** A drawing that no chart library made. */
export interface Drawing {
  readonly name: string;
  readonly svg: string;
}
