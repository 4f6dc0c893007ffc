import type { BackendName, Measured, Measurement, OpenBackend, PerfBackend, Side } from "@dfccl/collective-tests";

export interface FakeOptions {
  readonly name?: BackendName;
  readonly us?: number;
  readonly side?: Partial<Measured>;
  readonly outOfPlace?: Side;
  readonly inPlace?: Side;
  readonly memoryBytes?: number;
  readonly fails?: Error;
  /** Told of each measurement. */
  readonly onMeasure?: (measurement: Measurement) => void;
}

/** A library whose every operation takes as long as it is told. */
export function fakeBackend({
  name = "cpu",
  us = 1000,
  side = {},
  outOfPlace,
  inPlace,
  memoryBytes = 2 ** 40,
  fails,
  onMeasure,
}: FakeOptions = {}): PerfBackend {
  const opened: OpenBackend = {
    version: "1.2.3",
    devices: [
      { rank: 0, group: 0, pid: 4711, hostname: "host", device: 0, bus: "0000:00:00", name: "Machine" },
      { rank: 1, group: 0, pid: 4711, hostname: "host", device: 1, bus: "0000:00:00", name: "Machine" },
    ],
    memoryBytes,
    machine: { cpu: "Machine" },
    measure: async (measurement, onRow) => {
      if (fails) throw fails;
      onMeasure?.(measurement);
      const { cases } = measurement;
      const at = new Date(2026, 0, 2, 3, 4, 5);
      const measured: Measured = { us, cpuUs: us / 10, wrong: 0, ...side };
      for (const one of cases) onRow({ backend: name, case: one, outOfPlace: outOfPlace ?? measured, inPlace: inPlace ?? measured, at });
    },
  };
  return { name, open: async () => opened };
}
