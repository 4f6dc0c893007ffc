import { BenchError, jsonLines } from "dfccl/internal/measurement";
import type { InterpreterRow } from "./report.js";

const fields = ["ranks", "bytes", "engineUs", "handUs", "ratio"] as const;

/**
 * What `interpreter_bench` measured.
 * @throws {BenchError} WRONG_RESULTS, or PROGRAM_FAILED where something is missing.
 */
export function readInterpreterRows(output: string): InterpreterRow[] {
  const lines = jsonLines(output).filter((line) => "ratio" in line);
  const isRow = (line: Readonly<Record<string, unknown>>): boolean => fields.every((field) => Number.isFinite(line[field]));
  if (lines.length === 0 || !lines.every(isRow)) {
    throw new BenchError("PROGRAM_FAILED", "interpreter_bench did not measure everything.", "See what it wrote.", { output });
  }
  for (const { bytes, wrong } of lines) {
    if (wrong !== 0)
      throw new BenchError("WRONG_RESULTS", `${wrong} elements of ${bytes} bytes are wrong.`, "Find out why first.", { output });
  }
  return lines.map((line) => Object.fromEntries(fields.map((field) => [field, line[field]])) as unknown as InterpreterRow);
}
