import { checkPath, DfcclError, formatValue, type Program, type ProgramRule, verifyProgram } from "@dfccl/primitives";
import { type MachineFingerprint, writeWhole } from "@dfccl/scheduler/tuner";
import { readText, shownPath } from "../inputs/read-text.js";
import { unwritable } from "../outputs/unwritable.js";
import type { Contender } from "./contenders.js";
import type { Measured } from "./measure-contenders.js";

/** The fastest at each size, as rules for `selectAmongPrograms`, and how they came about. */
export interface ProgramTable {
  readonly machine: MachineFingerprint;
  /** ISO 8601. */
  readonly savedAt: string;
  readonly rules: readonly ProgramRule[];
}

export interface SizeResult {
  readonly bytes: number;
  readonly measured: readonly Measured[];
}

/** A table of programs that can't be read. */
export class ProgramTableError extends DfcclError {
  override readonly code = "TUNING_FILE";

  constructor(path: string, problem: string, cause?: unknown) {
    super(`The table of programs ${shownPath(path)} can't be used: ${problem}.`, {
      facts: { path, problem },
      remedy: "Make it anew with dfccl tune programs.",
      ...(cause === undefined ? {} : { cause }),
    });
  }
}

/** The name of the fastest. */
export function fastestOf(measured: readonly Measured[]): string {
  return measured.reduce((best, one) => (one.seconds < best.seconds ? one : best), measured[0] ?? { name: "", seconds: Infinity }).name;
}

/** One rule for each row of sizes with the same winner; it begins with the first of them, and the last has no end. */
export function rulesOf(results: readonly SizeResult[], contenders: readonly Contender[]): ProgramRule[] {
  const rows: { name: string; minBytes: number }[] = [];
  for (const { bytes, measured } of results) {
    const name = fastestOf(measured);
    if (rows.at(-1)?.name !== name) rows.push({ name, minBytes: rows.length === 0 ? 0 : bytes });
  }
  return rows.flatMap(({ name, minBytes }, index): ProgramRule[] => {
    const program = contenders.find((one) => one.name === name)?.program;
    return program === undefined ? [] : [{ name, program, minBytes, maxBytes: rows[index + 1]?.minBytes ?? 0 }];
  });
}

const schemaVersion = 1;

/**
 * Writes a table, whole or not at all.
 * @throws {InvalidArgumentError} for what is no path; {@link BenchError} NO_OUTPUT where it can't be written.
 */
export async function saveProgramTable(path: string, table: ProgramTable): Promise<void> {
  checkPath("path", path, "programs.json");
  try {
    await writeWhole(path, `${JSON.stringify({ schemaVersion, ...table })}\n`);
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/**
 * Reads a table and proves every program in it.
 * @throws {InvalidArgumentError} for what is no path; {@link ProgramTableError} for a file that can't be read or holds anything else.
 */
export async function loadProgramTable(path: string): Promise<ProgramTable> {
  checkPath("path", path, "programs.json");
  const text = readText(path, (why, cause) => new ProgramTableError(path, why, cause));
  let parsed: Partial<ProgramTable & { schemaVersion: number }>;
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch (cause) {
    throw new ProgramTableError(path, "it isn't JSON", cause);
  }
  const { machine = {}, savedAt = "", rules } = parsed ?? {};
  if (parsed?.schemaVersion !== schemaVersion || !Array.isArray(rules)) throw new ProgramTableError(path, "it is no table of this version");
  for (const [index, rule] of rules.entries()) proveRule(path, index, rule as Partial<ProgramRule> | null);
  return { machine, savedAt, rules };
}

function proveRule(path: string, index: number, rule: Partial<ProgramRule> | null): void {
  try {
    verifyProgram(rule?.program as Program);
  } catch (cause) {
    const why = cause instanceof DfcclError ? cause.message : "it is malformed";
    throw new ProgramTableError(path, `rule ${index} (${formatValue(rule?.name)}) isn't proven: ${why}`, cause);
  }
}
