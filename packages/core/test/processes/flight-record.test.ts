import { collectives } from "@dfccl/primitives";
import { expect, it } from "vitest";
import { flightRecordOf, type WorldStatus } from "../../src/index.js";

// COLLECTIVES of PyTorch's tools/flight_recorder/components/types.py, of those that dfccl has: it refuses any other.
const known = [
  "all_reduce",
  "all_reduce_barrier",
  "_all_gather_base",
  "_reduce_scatter_base",
  "broadcast",
  "reduce",
  "gather",
  "scatter",
  "all_to_all",
];

it("calls every collective by a name that PyTorch's analyzer knows", () => {
  const members = [0, 1].map((rank) => ({ rank, registered: true, left: false, submitted: 1, finished: 0, waitingMs: 0 }));
  const world: WorldStatus = {
    job: "job",
    version: "0",
    memoryBytes: 0,
    ranks: [0, 1].map((rank) => ({ rank, pid: 1, presence: "joined" })),
    collectives: collectives.map((collective, id) => ({ id, collective, dataType: "float32", count: 4, aborted: false, members })),
  };
  const { entries } = flightRecordOf(world, 1);
  expect(entries).toHaveLength(collectives.length);
  for (const { profiling_name } of entries) expect(known.map((name) => `nccl:${name}`)).toContain(profiling_name);
});
