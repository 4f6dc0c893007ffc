import { describe, expect, it } from "vitest";
import { joinWorld, openWorld, UnknownOptionError } from "../src/index.js";
import { failureOf, rankOf } from "./support/open.js";

const launch = { rank: 0, size: 1, job: `options-${process.pid}` };
const unknown = (option: string, nearest: string) =>
  expect.objectContaining({ code: "UNKNOWN_OPTION", facts: expect.objectContaining({ option, nearest }) });

// A misspelt option would have no effect, and nobody would know. TypeScript refuses it; JavaScript has only this.
describe("an option that isn't one is refused, and the nearest is named", () => {
  it("by openWorld", () => {
    const wrong = { ranks: 2, worker: 0 } as never;
    expect(() => openWorld(wrong)).toThrow(UnknownOptionError);
    expect(() => openWorld(wrong)).toThrow("worker is not an option here. Write workers, or leave it out.");
  });

  it("by joinWorld, and in its launch", async () => {
    expect(await failureOf(joinWorld({ launch, timeout: 5 } as never))).toEqual(unknown("timeout", "timeoutMs"));
    expect(await failureOf(joinWorld({ launch, streams: 1 } as never))).toHaveProperty("code", "UNKNOWN_OPTION");
    expect(await failureOf(joinWorld({ launch: { ...launch, adress: "" } } as never))).toEqual(unknown("launch.adress", "address"));
    const asRead = { launcher: "mine", ...launch };
    await using rank = await joinWorld({ launch: asRead, workers: 0 });
    expect(await failureOf(rank.agreeOnSurvivors({ timeoutMS: 5 } as never))).toEqual(unknown("timeoutMS", "timeoutMs"));
  });

  it("by register, run and submit, before anything is submitted", async () => {
    using world = openWorld({ ranks: 1, workers: 0 });
    const rank = rankOf(world, 0);
    const options = { id: 1, collective: "all-reduce", dataType: "int32", count: 4 } as const;
    expect(() => rank.register({ ...options, datatype: "int8" } as never)).toThrow(unknown("datatype", "dataType"));
    const sum = rank.register(options);
    const x = new Int32Array(4);
    expect(await failureOf(sum.run(x, x, { timeout: 5 } as never))).toEqual(unknown("timeout", "timeoutMs"));
    expect(() => rank.submit([[sum, x, x]], { oncomplete: () => {} } as never)).toThrow(unknown("oncomplete", "onComplete"));
    expect(rank.pendingRuns).toBe(0);
  });
});
