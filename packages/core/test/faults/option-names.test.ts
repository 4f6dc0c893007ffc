import { InvalidArgumentError } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { joinWorld, openWorld } from "../../src/index.js";
import { failureOf, rankOf } from "../support/open.js";

const refused = (argument: string) => expect.objectContaining({ code: "INVALID_ARGUMENT", facts: expect.objectContaining({ argument }) });

// The engine has names of its own for some of them, which tell a user nothing.
describe("what is wrong is called what the user calls it", () => {
  it.each([
    ["blocks", "x"],
    ["blocks", 0],
    ["workers", -1],
    ["maxTasks", 0.5],
    ["maxCollectives", "8"],
    ["maxCollectives", 2 ** 20 + 1],
    ["maxTasks", 2 ** 24 + 1],
    ["maxTasks", 4],
    ["blocks", 66],
    ["submissionSlots", Number.NaN],
    ["completionSlots", null],
    ["arenaBytes", "1G"],
    ["policy", "fifo"],
  ])("%s of a world: %j", (name, value) => {
    expect(() => openWorld({ ranks: 1, [name]: value } as never)).toThrow(refused(name));
  });

  it("the signal and the time of a run, and of joining", async () => {
    using world = openWorld({ ranks: 1, workers: 0 });
    const sum = rankOf(world, 0).register({ id: 1, collective: "all-reduce", dataType: "int32", count: 1 });
    const x = new Int32Array(1);
    expect(await failureOf(sum.run(x, x, { signal: 5 } as never))).toEqual(refused("signal"));
    expect(await failureOf(sum.run(x, x, { timeoutMs: "5" } as never))).toEqual(refused("timeoutMs"));
    const launch = { rank: 0, size: 1, job: `names-${process.pid}` };
    expect(await failureOf(joinWorld({ launch, signal: {} } as never))).toBeInstanceOf(InvalidArgumentError);
    expect(rankOf(world, 0).pendingRuns).toBe(0);
  });
});
