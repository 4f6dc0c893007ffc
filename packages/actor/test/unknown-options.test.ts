import { openWorld } from "@dfccl/core";
import { describe, expect, it } from "vitest";
import { compileGraph, coreCollectives, coreCommunicator, oneFlowCounts, openReducer, runActors, simulatePipeline } from "../src/index.js";

const unknown = (option: string, nearest: string) =>
  expect.objectContaining({ code: "UNKNOWN_OPTION", facts: expect.objectContaining({ option, nearest }) });

describe("an option that isn't one is refused, and the nearest is named", () => {
  it("by reducers and communicators", () => {
    using world = openWorld({ ranks: 1, workers: 0 });
    const [rank] = world.ranks;
    if (rank === undefined) throw new Error("no rank");
    expect(() => coreCommunicator(rank, { rank: [0] } as never)).toThrow(unknown("rank", "ranks"));
    const options = { communicator: coreCommunicator(rank), tensors: [{ id: 1, elements: 4 }] };
    expect(() => openReducer({ ...options, schedules: "static" } as never)).toThrow(unknown("schedules", "schedule"));
  });

  it("by compileGraph, runActors and simulatePipeline", async () => {
    using world = openWorld({ ranks: 1, workers: 0 });
    const compile = { steps: 1, collectives: coreCollectives(world), feeds: {}, initial: {} };
    expect(() => compileGraph([], { ...compile, onoutput: () => {} } as never)).toThrow(unknown("onoutput", "onOutput"));
    expect(() => runActors({ tasks: [], registers: [] }, { onact: () => {} } as never)).toThrow(unknown("onact", "onAct"));
    const pipeline = { stages: 2, microBatches: 2, counts: oneFlowCounts(2), forwardMS: 1 };
    await expect(simulatePipeline(pipeline as never)).rejects.toThrow(unknown("forwardMS", "forwardMs"));
  });
});
