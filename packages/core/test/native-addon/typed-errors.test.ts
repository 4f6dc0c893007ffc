// What the addon throws, wherever it is called, is of the one family.
import { describe, expect, it, vi } from "vitest";
import { allocateOnDevice, type DeviceOwner } from "../../src/device-buffer.js";
import { openWorld } from "../../src/index.js";
import { engineOfRank } from "../../src/rank.js";
import { expectFault, thrownBy, untyped } from "../support/faults.js";
import { failureOf, rankOf } from "../support/open.js";

const closed = (): never => {
  throw Object.assign(new Error("The world has been closed."), { status: 9, remedy: "Open another one." });
};

describe("a world that is closed meanwhile", () => {
  it.each(["placements", "nameOf", "runsBefore"] as const)("is told by a call that asks for %s", async (question) => {
    using world = openWorld({ ranks: 2 });
    const rank = rankOf(world, 0);
    const spy = vi.spyOn(engineOfRank(rank).engine.native, question).mockImplementation(closed);
    try {
      expectFault(await failureOf(rank.allReduce(new Float32Array(4))), "CLOSED", { what: "The world" });
    } finally {
      spy.mockRestore();
    }
  });

  it.each(["isAborted", "lostRanks"] as const)("is told by a receive from any rank that asks for %s", async (question) => {
    using world = openWorld({ ranks: 2 });
    const rank = rankOf(world, 0);
    const spy = vi.spyOn(engineOfRank(rank).engine.native, question).mockImplementation(closed);
    try {
      expectFault(await failureOf(rank.recvAny(new Float32Array(4))), "CLOSED", { what: "The world" });
    } finally {
      spy.mockRestore();
    }
  });

  it("is told by a device buffer that is asked for its device", () => {
    const native = { allocateOnDevice: () => 4096, deviceOf: closed };
    const owner: DeviceOwner = { number: 0, engine: { native: untyped(native), isOpen: false, isJoined: false }, uses: () => false };
    const buffer = allocateOnDevice(owner, "float32", 4, 16);
    expectFault(
      thrownBy(() => buffer.device),
      "CLOSED",
      { what: "The world" },
    );
    expect(buffer.isOpen).toBe(false);
  });
});
