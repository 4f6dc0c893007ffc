import { readFile, stat } from "node:fs/promises";
import { checkObject, checkPath, DfcclError, formatValue, InvalidArgumentError } from "@dfccl/primitives";
import type { Candidate } from "./candidate.js";
import type { CurveFit } from "./fit-curve.js";
import type { MeasuredPoint, TuneResult } from "./tune.js";
import { writeWhole } from "./write-whole.js";

/** What identifies a machine for tuning: processor, cores, devices. Compared field by field. */
export type MachineFingerprint = Readonly<Record<string, string | number>>;

/** What is kept of a search. The raw samples are not. */
export interface StoredTuning {
  readonly machine: MachineFingerprint;
  /** ISO 8601. */
  readonly savedAt: string;
  readonly best: Candidate;
  readonly gain: number;
  readonly curve: readonly MeasuredPoint[];
  readonly fit: CurveFit;
}

export type LoadedTuning =
  | { readonly ok: true; readonly tuning: StoredTuning }
  | { readonly ok: false; readonly reason: "missing" }
  | { readonly ok: false; readonly reason: "other-machine"; readonly machine: MachineFingerprint };

/** A tuning file that can't be read. `facts` are {path, problem}. */
export class TuningFileError extends DfcclError {
  override readonly code = "TUNING_FILE";

  constructor(path: string, problem: string, cause?: unknown, remedy = "Delete it, or tune again to replace it.") {
    super(`The tuning file ${path} can't be used: ${problem}.`, {
      facts: { path, problem },
      remedy,
      cause,
    });
  }
}

const schemaVersion = 1;

/**
 * Writes a result to `path`, whole or not at all.
 * @throws {InvalidArgumentError} for what is no path, result or date; {@link TuningFileError} where it can't be written.
 */
export async function saveTuning(path: string, result: TuneResult, machine: MachineFingerprint, savedAt: Date): Promise<void> {
  checkPath("path", path, "tuning.json");
  checkObject("result", result, "what tune() returns");
  if (!isMachine(machine)) throw new InvalidArgumentError("machine", machine, "an object of strings and numbers");
  if (!(savedAt instanceof Date) || Number.isNaN(savedAt.getTime())) throw new InvalidArgumentError("savedAt", savedAt, "a date");
  const { best, gain, curve, fit } = result;
  if (typeof gain !== "number" || !isCandidate(best) || !Array.isArray(curve) || !curve.every(isPoint) || !isFit(fit)) {
    throw new InvalidArgumentError("result", result, "what tune() returns");
  }
  const tuning: StoredTuning = { machine, savedAt: savedAt.toISOString(), best, gain, curve, fit };
  try {
    await writeWhole(path, `${JSON.stringify({ schemaVersion, ...tuning }, null, 2)}\n`);
  } catch (cause) {
    const problem = isRecord(cause) ? String(cause.code) : String(cause);
    throw new TuningFileError(
      path,
      `it can't be written (${problem})`,
      cause,
      "Give a path in a folder that is there and may be written to.",
    );
  }
}

/**
 * Reads what `saveTuning` wrote. A missing file and one of another machine are values: the caller uses its defaults.
 * @throws {InvalidArgumentError} for what is no path; {@link TuningFileError} for a file that can't be read, isn't JSON, or holds anything else.
 */
export async function loadTuning(path: string, machine: MachineFingerprint): Promise<LoadedTuning> {
  checkPath("path", path, "tuning.json");
  checkObject("machine", machine, "an object of strings and numbers");
  let text: string;
  try {
    const there = await stat(path);
    if (!there.isFile() && !there.isDirectory()) throw new TuningFileError(path, "a pipe or a device might never end");
    // Editors on Windows begin a file with a byte order mark.
    text = (await readFile(path, "utf8")).replace(/^\uFEFF/, "");
  } catch (cause) {
    if (cause instanceof TuningFileError) throw cause;
    if (isRecord(cause) && cause.code === "ENOENT") return { ok: false, reason: "missing" };
    throw new TuningFileError(path, "it can't be read", cause);
  }
  const tuning = parseTuning(path, text);
  if (!isSameMachine(tuning.machine, machine)) return { ok: false, reason: "other-machine", machine: tuning.machine };
  return { ok: true, tuning };
}

function parseTuning(path: string, text: string): StoredTuning {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (cause) {
    throw new TuningFileError(path, "it isn't JSON", cause);
  }
  const need = (condition: boolean, problem: string): void => {
    if (!condition) throw new TuningFileError(path, problem);
  };
  if (!isRecord(data)) throw new TuningFileError(path, "it holds no object");
  need(data.schemaVersion === schemaVersion, `its schema version is ${formatValue(data.schemaVersion)}, not ${schemaVersion}`);
  const { machine, savedAt, best, gain, curve, fit } = data;
  if (!isMachine(machine)) throw new TuningFileError(path, "machine isn't an object of strings and numbers");
  if (typeof savedAt !== "string") throw new TuningFileError(path, "savedAt isn't a string");
  if (typeof gain !== "number") throw new TuningFileError(path, "gain isn't a number");
  if (!isCandidate(best)) throw new TuningFileError(path, "best isn't a threshold, a raise factor and a quit period");
  if (!Array.isArray(curve) || !curve.every(isPoint)) throw new TuningFileError(path, "curve isn't a list of points");
  if (!isFit(fit)) throw new TuningFileError(path, "fit isn't a fitted curve");
  return { machine, savedAt, best, gain, curve, fit: { ...fit, optimum: fit.optimum } };
}

function isSameMachine(a: MachineFingerprint, b: MachineFingerprint): boolean {
  const fields = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...fields].every((field) => a[field] === b[field]);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hasNumbers(value: unknown, fields: readonly string[]): value is Record<string, number> {
  return isRecord(value) && fields.every((field) => Number.isFinite(value[field]));
}

function isMachine(value: unknown): value is MachineFingerprint {
  return isRecord(value) && Object.values(value).every((field) => typeof field === "string" || typeof field === "number");
}

function isCandidate(value: unknown): value is Candidate {
  return (
    hasNumbers(value, ["initialThreshold", "raiseFactor", "idleVisits"]) &&
    Number.isInteger(value.initialThreshold) &&
    Number.isInteger(value.idleVisits)
  );
}

function isPoint(value: unknown): value is MeasuredPoint {
  return hasNumbers(value, ["value", "ns", "ratio", "spread"]);
}

function isFit(value: unknown): value is CurveFit {
  if (!isRecord(value) || !hasNumbers(value, ["a", "b", "c", "relativeError"])) return false;
  const { optimum } = value as Record<string, unknown>;
  return optimum === undefined || typeof optimum === "number";
}
