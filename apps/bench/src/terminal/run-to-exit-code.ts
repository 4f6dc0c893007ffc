import { DfcclError } from "@dfccl/primitives";
import { err } from "./colors.js";
import { fromHere } from "./from-here.js";
import { failUnfinished } from "./unfinished.js";
import { wrapOnTerminal } from "./wrap.js";

const usageError = 2;
// Errors of what was typed, not of what ran.
const usageCodes: ReadonlySet<string> = new Set([
  "WORKLOAD",
  "POLICY",
  "TUNING_FILE",
  "PROGRAM_FILE",
  "GRAPH_TOO_LARGE",
  "SIMULATION_CONFIG",
  "BAD_REPORT",
  "UNREADABLE_FILE",
  "UNKNOWN_MODEL",
  "PLAN",
  "PLACEMENT",
  "SIGNATURE",
  "SHAPE",
  "CHECKPOINT",
]);
/** Parses and runs what was typed; the exit code is in process.exitCode then, and what went wrong has been said. */
export async function runToExitCode(command: () => Promise<unknown>): Promise<void> {
  const finished = failUnfinished();
  try {
    await command();
  } catch (error) {
    process.exitCode = report(error);
  } finally {
    finished();
  }
}

/** Says what went wrong. @returns the exit code. */
function report(error: unknown): number {
  // Thrown by commander after it has printed help, a version or a usage error.
  const { code, exitCode } = error as { code?: unknown; exitCode?: unknown };
  if (typeof code === "string" && code.startsWith("commander.")) return exitCode === 0 ? 0 : usageError;
  if (error instanceof DfcclError) {
    // The remedy follows after a space, where the text before it may have ended with a line of its own.
    const message = fromHere(error.message.replaceAll(/\n (?=\S)/g, "\n"));
    process.stderr.write(`${err.red(wrapOnTerminal(message))}\n`);
    return usageCodes.has(error.code) ? usageError : 1;
  }
  process.stderr.write(`${err.red(isOfTheSystem(error) ? wrapOnTerminal(`${error.message}.`) : stackOf(error))}\n`);
  return 1;
}

/** A file that can't be written, a disk that is full: no stack makes that any clearer. */
function isOfTheSystem(error: unknown): error is NodeJS.ErrnoException {
  const { errno, syscall } = error as NodeJS.ErrnoException;
  return error instanceof Error && typeof errno === "number" && typeof syscall === "string";
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
