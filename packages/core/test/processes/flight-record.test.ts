import { collectives } from "@dfccl/primitives";
import { expect, it } from "vitest";
import { EngineError, flightRecordOf, type WorldStatus } from "../../src/index.js";

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

/** Rank 0 has submitted a run of each, and rank 1 hasn't. */
const worldOf = (names: readonly string[]): WorldStatus => ({
  job: "job",
  version: "0",
  memoryBytes: 0,
  ranks: [0, 1].map((rank) => ({ rank, pid: 1, presence: "joined" })),
  collectives: names.map((collective, id) => ({
    ...{ id, name: `${collective} ${id}`, collective, dataType: "float32", count: 4, aborted: false },
    members: [0, 1].map((rank) => ({ rank, registered: true, left: false, submitted: 1 - rank, finished: 0, waitingMs: 1500 })),
  })),
});

it("calls every collective by a name that PyTorch's analyzer knows", () => {
  const { entries } = flightRecordOf(worldOf(collectives), 0);
  expect(entries).toHaveLength(collectives.length);
  for (const { profiling_name } of entries) expect(known.map((name) => `nccl:${name}`)).toContain(profiling_name);
});

it("says all of a run: what it is, how far, since when, and who is missing", () => {
  const { pg_config, pg_status, entries } = flightRecordOf(worldOf(["all-reduce"]), 0, 1_763_837_198_638e6);
  expect(pg_config).toEqual({ "id 0": { name: "id 0", desc: "all-reduce 0", ranks: "[0,1]" } });
  expect(pg_status).toEqual({ "id 0": { last_enqueued_collective: 1, last_started_collective: 1, last_completed_collective: 0 } });
  expect(entries).toEqual([
    {
      frames: [],
      record_id: 0,
      pg_id: 0,
      process_group: ["id 0", "all-reduce 0"],
      collective_seq_id: 1,
      p2p_seq_id: 0,
      op_id: 1,
      profiling_name: "nccl:all_reduce",
      time_created_ns: 1_763_837_197_138e6,
      input_sizes: [[4]],
      input_dtypes: ["Float"],
      output_sizes: [[4]],
      output_dtypes: ["Float"],
      state: "started",
      time_discovered_started_ns: null,
      time_discovered_completed_ns: null,
      retired: false,
      timeout_ms: null,
      is_p2p: false,
      missing_ranks: [1],
    },
  ]);
});

it("refuses a world that this version doesn't know", () => {
  const noList = { ...worldOf([]), collectives: undefined } as unknown as WorldStatus;
  for (const wrong of [worldOf(["all-to-some"]), noList]) {
    expect(() => flightRecordOf(wrong, 0)).toThrow(EngineError);
  }
});

it("describes a group by what was called, and refuses what is no name", () => {
  const world = worldOf(["all-reduce"]);
  const named = (name: string): WorldStatus => ({ ...world, collectives: world.collectives.map((one) => ({ ...one, name })) });
  const call = "all-reduce of 4 float32, sum, tag 7 (ranks 0, 1)";
  const { pg_config, entries } = flightRecordOf(named(call), 0);
  expect([pg_config["id 0"]?.desc, entries[0]?.process_group[1]]).toEqual([call, call]);
  for (const name of ['all-reduce", "ranks": "', "all-reduce \\", "all-reduce\n"]) {
    expect(() => flightRecordOf(named(name), 0)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT", facts: { value: name } }));
  }
});
