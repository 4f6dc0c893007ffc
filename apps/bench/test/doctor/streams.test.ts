import type { WorldStatus } from "@dfccl/core";
import { expect, it } from "vitest";
import { type StreamFacts, streamFindings } from "../../src/doctor/streams.js";

const nothingSet: StreamFacts = { env: {}, hasMultiProcessService: false, worlds: [] };
const finding = (what: string, facts: Partial<StreamFacts> = {}) =>
  streamFindings({ ...nothingSet, ...facts }).find((one) => one.what === what);

it("says what holds where nothing is set", () => {
  expect(streamFindings(nothingSet).map(({ what, state }) => `${what}: ${state}`)).toEqual([
    "module loading: ok",
    "stream queues: ok",
    "GPU sharing: ok",
    "memory kinds: ok",
    "resident: ok",
  ]);
  expect(finding("module loading")?.detail).toContain("at its first launch");
  expect(finding("GPU sharing")?.detail).toContain("time slices");
  expect(finding("resident")?.detail).toBe("no job's ranks are on this machine");
});

it("tells whom each setting concerns", () => {
  expect(finding("module loading", { env: { CUDA_MODULE_LOADING: "EAGER" } })?.detail).toContain("at the start");
  expect(finding("GPU sharing", { hasMultiProcessService: true })?.detail).toContain("multi-process service");
  expect(finding("memory kinds", { env: { PYTORCH_CUDA_ALLOC_CONF: "max_split_size_mb:64,expandable_segments:True" } })?.remedy).toContain(
    "expandable_segments:False",
  );
});

it.each([
  ["1", "ok", "the host waits in its place"],
  ["32", "ok", "32"],
  ["0", "failed", 'is "0"'],
  ["33", "failed", 'is "33"'],
  ["many", "failed", 'is "many"'],
])("of CUDA_DEVICE_MAX_CONNECTIONS=%s says %s", (setting, state, detail) => {
  const found = finding("stream queues", { env: { CUDA_DEVICE_MAX_CONNECTIONS: setting } });
  expect(found).toMatchObject({ state, detail: expect.stringContaining(detail) });
});

it("names who is resident", () => {
  const world: WorldStatus = {
    job: "train",
    version: "0.0.0",
    memoryBytes: 0,
    collectives: [],
    ranks: [
      { rank: 0, pid: 11, presence: "joined" },
      { rank: 1, pid: 12, presence: "died" },
    ],
  };
  expect(finding("resident", { worlds: [world] })?.detail).toBe("job train: rank 0 (process 11)");
});
