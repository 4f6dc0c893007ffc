import { checkFunction, checkObject, readArgument, readPlain } from "@dfccl/primitives";
import type { PerfBackend } from "./backend.js";
import type { PerfEnvironment } from "./environment.js";
import { checkSignal, readBackends, readTexts } from "./read-run.js";

export interface RunContext {
  readonly backends: readonly PerfBackend[];
  readonly environment: PerfEnvironment;
  /** NAME=VALUE, for the JSON. */
  readonly environmentLines: readonly string[];
  /** A line of text; where a test runs, what it would print. */
  readonly print: (line: string) => void;
  /** How far it has come: rows done, of all. */
  readonly onProgress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/** @throws {InvalidArgumentError} */
export function readContext(given: RunContext): RunContext {
  const expected = "an object such as { backends, environment: readEnvironment(process.env), environmentLines: [], print }";
  checkObject("context", given, expected);
  const context = readArgument("context", expected, () => ({ ...given }));
  checkObject("context.environment", context.environment, "what readEnvironment() returns");
  checkFunction("context.print", context.print, "a function that takes a line");
  if (context.onProgress !== undefined) checkFunction("context.onProgress", context.onProgress, "a function of (done, total)");
  checkSignal("context.signal", context.signal);
  return {
    ...context,
    environment: readPlain("context.environment", context.environment),
    backends: readBackends("context.backends", context.backends),
    environmentLines: readTexts("context.environmentLines", context.environmentLines),
  };
}
