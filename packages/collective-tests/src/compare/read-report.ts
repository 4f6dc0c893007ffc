import { checkText, formatValue } from "@dfccl/primitives";
import { PerfError } from "../errors.js";
import type { JsonReport, JsonResult } from "../json/report.js";

/** What is read of a report: nccl-tests' own files have no part that says what else was asked for. */
export type ReadReport = Omit<JsonReport, "dfccl"> & Partial<Pick<JsonReport, "dfccl">>;

/**
 * A report of nccl-tests, version 2 or 3, or of these programs.
 * @param name - of the file, for the error.
 * @throws {PerfError} BAD_REPORT
 */
export function readReport(text: string, name: string): ReadReport {
  const bad = (why: string): PerfError =>
    new PerfError(
      "BAD_REPORT",
      `${typeof name === "string" ? name : formatValue(name)} is no report of the collective tests: ${why}.`,
      "Write one with -J FILE.",
      { file: name },
    );
  checkText("text", text, "the text of a report");
  let parsed: unknown;
  try {
    // Editors on Windows begin a file with a byte order mark.
    parsed = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    throw bad("it isn't JSON");
  }
  if (!isObject(parsed) || !Array.isArray(parsed.results) || !isObject(parsed.config)) throw bad("it has no results");
  const version = parsed.version;
  if (typeof version !== "number" || version < 2 || version > 3) throw bad(`its version is ${formatValue(version)}, not 2 or 3`);
  for (const [i, result] of parsed.results.entries()) {
    if (!isResult(result)) throw bad(`result ${i} has no size, type, redop or times`);
  }
  return parsed as unknown as ReadReport;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isResult(value: unknown): value is JsonResult {
  if (!isObject(value)) return false;
  const isSide = (side: unknown): boolean => side === null || side === undefined || (isObject(side) && typeof side.alg_bw === "number");
  return typeof value.size === "number" && typeof value.type === "string" && isSide(value.out_of_place) && isSide(value.in_place);
}
