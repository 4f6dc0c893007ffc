// What callers of runTest(), openBackend() and turnsOf() give, held to what it must be before anything starts: they bring functions of
// their own, and in JavaScript no compiler looks at those.
import { checkFunction, checkList, checkMethod, checkNumber, checkObject, checkText, readArgument, readPlain } from "@dfccl/primitives";
import type { Measurement, OpenBackend, PerfBackend } from "./backend.js";
import { collectiveFacts } from "./collectives.js";
import { optionTable } from "./option-table.js";
import type { PerfOptions, PerfRun } from "./options.js";

/** @throws {InvalidArgumentError} */
export function readRun(given: PerfRun): PerfRun {
  const run = readPlain("run", given);
  checkObject("run", run, "an object such as { collective, options, args }");
  collectiveFacts(run.collective);
  readTexts("run.args", run.args);
  return { ...run, options: readOptions("run.options", run.options) };
}

/** Each of the kind that parseArguments() makes it. @throws {InvalidArgumentError} */
export function readOptions(argument: string, given: PerfOptions): PerfOptions {
  const options = readPlain(argument, given);
  const expected = "what parseArguments() returns as its options";
  checkObject(argument, options, expected);
  for (const { long, byDefault } of optionTable) {
    const full = `${argument}.${long}`;
    const value: unknown = options[long];
    if (typeof byDefault === "number") checkNumber(full, value);
    else if (typeof byDefault === "string") checkText(full, value, expected);
    else if (Array.isArray(byDefault)) checkList(full, value, expected);
    else if (value !== undefined) checkObject(full, value, expected);
  }
  return options;
}

/** @throws {InvalidArgumentError} */
export function readBackends(argument: string, given: readonly PerfBackend[]): readonly PerfBackend[] {
  const expected = "a list of backends, such as { name, open }";
  checkList(argument, given, expected);
  const backends = readArgument(argument, expected, () => [...given]);
  for (const [i, backend] of backends.entries()) {
    checkMethod(`${argument}[${i}]`, backend, "open", expected);
    readArgument(`${argument}[${i}].name`, expected, () => backend.name);
  }
  return backends;
}

/** @throws {InvalidArgumentError} */
export function checkSignal(argument: string, signal: unknown): void {
  if (signal !== undefined) checkMethod(argument, signal, "addEventListener", "an AbortSignal");
}

/** What a backend of the caller's has opened. @throws {InvalidArgumentError} */
export function checkOpened(argument: string, opened: OpenBackend): void {
  const expected = "what a backend's open() returns, such as { version, devices, memoryBytes, machine, measure }";
  checkMethod(argument, opened, "measure", expected);
  const { startTurns, memoryBytes, devices } = readArgument(argument, expected, () => ({
    startTurns: opened.startTurns,
    memoryBytes: opened.memoryBytes,
    devices: opened.devices,
  }));
  if (startTurns !== undefined) checkFunction(`${argument}.startTurns`, startTurns, expected);
  checkNumber(`${argument}.memoryBytes`, memoryBytes);
  checkList(`${argument}.devices`, devices, expected);
}

/** @throws {InvalidArgumentError} */
export function readMeasurement(given: Measurement): Measurement {
  const expected = "an object such as { run, cases, warmUps, cycles }";
  checkObject("measurement", given, expected);
  const measurement = readArgument("measurement", expected, () => ({ ...given }));
  checkNumber("measurement.cycles", measurement.cycles);
  checkSignal("measurement.signal", measurement.signal);
  for (const list of ["cases", "warmUps"] as const) checkList(`measurement.${list}`, measurement[list], "what casesOf() returns");
  const [cases, warmUps] = [readPlain("measurement.cases", measurement.cases), readPlain("measurement.warmUps", measurement.warmUps)];
  return { ...measurement, cases, warmUps };
}

/** @throws {InvalidArgumentError} */
export function readTexts(argument: string, given: readonly string[]): readonly string[] {
  const expected = "a list of texts";
  checkList(argument, given, expected);
  const texts = readPlain(argument, given);
  for (const [i, text] of texts.entries()) checkText(`${argument}[${i}]`, text, expected);
  return texts;
}
