import { checkText } from "@dfccl/primitives";
import type { Measurement, OpenBackend, PerfBackend, Turns } from "./backend.js";
import { PerfError } from "./errors.js";
import { type BackendName, backendNames, type PerfOptions } from "./options.js";
import { checkOpened, checkSignal, readBackends, readMeasurement, readOptions } from "./read-run.js";
import type { MeasuredRow } from "./results.js";

/** The one of that name. @throws {PerfError} as PerfBackend.open. @throws {InvalidArgumentError} for what is no backend */
export async function openBackend(
  backends: readonly PerfBackend[],
  name: BackendName,
  options: PerfOptions,
  signal?: AbortSignal,
): Promise<OpenBackend> {
  checkText("name", name, `one of ${backendNames.join(", ")}`);
  checkSignal("signal", signal);
  const backend = readBackends("backends", backends).find((candidate) => candidate.name === name);
  if (backend === undefined) throw new PerfError("BACKEND_MISSING", `There is no backend ${name} here.`, "Leave it out.");
  const opened = await backend.open(readOptions("options", options), signal);
  checkOpened(`what the backend ${name} opens`, opened);
  return opened;
}

/**
 * The same of any backend: one that doesn't stay is started anew for each row.
 * @throws {InvalidArgumentError} for what is no backend, or no measurement.
 */
export function turnsOf(backend: OpenBackend, given: Measurement): Turns {
  checkOpened("backend", backend);
  const measurement = readMeasurement(given);
  if (backend.startTurns) return backend.startTurns(measurement);
  return {
    async measure(row) {
      const cases = measurement.cases.slice(row, row + 1);
      let measured: MeasuredRow | undefined;
      const warmUps = measurement.warmUps.length > 0 ? cases : [];
      await backend.measure({ ...measurement, cases, warmUps, cycles: 1, buffersFor: measurement.cases }, (one) => {
        measured = one;
      });
      if (measured === undefined) throw new PerfError("BACKEND_FAILED", "A backend has measured nothing.", "Report this.");
      return measured;
    },
    end: () => Promise.resolve(),
    stop: () => {},
  };
}
