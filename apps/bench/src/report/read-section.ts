import { basename } from "node:path";
import { PerfError, readReport } from "@dfccl/collective-tests";
import { readReportText } from "../inputs/read-report-text.js";
import type { OverheadsReport } from "../overheads/overheads-report.js";
import type { StickinessReport } from "../stickiness/report.js";
import { gpuSection, readGpuRows } from "./gpu-section.js";
import type { Section } from "./model.js";
import { overheadsSection } from "./overheads-section.js";
import { perfSection } from "./perf-section.js";
import { stickinessSection } from "./stickiness-section.js";
import { type SyntheticReport, syntheticSection, type TrainingReport, trainingComparison, trainingSection } from "./training-section.js";

/**
 * A result file of any kind, as a section of a report. What kind it is, it says itself; those of nccl-tests itself don't.
 * @throws {PerfError} BAD_REPORT, also of a file in which nothing was measured: its page would be empty.
 */
export function readSection(path: string, id: string): Section {
  const section = sectionOf(path, id);
  if (section.charts.some(({ series }) => series.length > 0)) return section;
  const why = ["error: ", "not measured: "].flatMap((kind) => section.facts.filter((fact) => fact.startsWith(kind)))[0];
  throw new PerfError("BAD_REPORT", `${path} has no result${why === undefined ? "" : `: ${why.replace(/\.$/, "")}`}.`, "Measure again.", {
    path,
  });
}

function sectionOf(path: string, id: string): Section {
  const text = readReportText(path);
  const gpuRows = readGpuRows(text);
  if (gpuRows !== undefined) return gpuSection(gpuRows, id, basename(path));
  const parsed = parse(text);
  if (isKind(parsed, "stickiness")) return stickinessSection(parsed as unknown as StickinessReport, id);
  if (isKind(parsed, "training")) return trainingSection(parsed as unknown as TrainingReport, id);
  if (isKind(parsed, "synthetic")) return syntheticSection(parsed as unknown as SyntheticReport, id);
  if (Array.isArray(parsed?.parts) && Array.isArray(parsed.whole)) return overheadsSection(parsed as unknown as OverheadsReport, id);
  return perfSection(readReport(text, path), id, basename(path));
}

/** What several files of one kind say together; those of single files come after. */
export function compareFiles(paths: readonly string[]): Section[] {
  const runs = paths.flatMap((path) => {
    const parsed = parse(readReportText(path));
    return isKind(parsed, "training") ? [parsed as unknown as TrainingReport] : [];
  });
  const comparison = trainingComparison(runs, "training-runs");
  return comparison === undefined ? [] : [comparison];
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isKind(parsed: Readonly<Record<string, unknown>> | undefined, kind: string): boolean {
  return parsed?.kind === kind;
}
