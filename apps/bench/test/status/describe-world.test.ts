import type { WorldStatus } from "@dfccl/core";
import { expect, it } from "vitest";
import { describeWorld } from "../../src/status/describe-world.js";

it("names what waits by its call, where it has no id that somebody chose", () => {
  const member = { registered: true, left: false, finished: 0, waitingMs: 0 };
  const world: WorldStatus = {
    job: "training",
    version: "0.0.0",
    memoryBytes: 100,
    ranks: [0, 1].map((rank) => ({ rank, pid: 1000 + rank, presence: "joined" })),
    collectives: [
      {
        ...{ id: 845347823, name: "all-reduce of 4 float32, sum, tag 7 (ranks 0, 1)", collective: "all-reduce" },
        ...{ dataType: "float32", count: 4, aborted: false },
        members: [
          { ...member, rank: 0, submitted: 1 },
          { ...member, rank: 1, submitted: 0 },
        ],
      },
    ],
  };
  const text = describeWorld(world).replace(/\s+/g, " ");
  expect(text).toContain("all-reduce of 4 float32, sum, tag 7 (ranks 0, 1), run 0: waits for rank 1, which hasn't submitted it");
  expect(text).not.toContain("845347823");
});
