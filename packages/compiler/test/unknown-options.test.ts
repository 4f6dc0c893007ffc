import { describe, expect, it } from "vitest";
import * as algorithms from "../src/algorithms/index.js";
import { allReduce, broadcast, compile, custom, defineProgram } from "../src/index.js";

const unknown = (option: string, nearest?: string) =>
  expect.objectContaining({ code: "UNKNOWN_OPTION", facts: expect.objectContaining({ option, nearest }) });

describe("an option that isn't one is refused, and the nearest is named", () => {
  it("by what a program promises", () => {
    expect(() => allReduce({ ranks: 2, chunk: 4 } as never)).toThrow(unknown("chunk", "chunks"));
    expect(() => allReduce({ ranks: 2, root: 1 } as never)).toThrow(unknown("root"));
    expect(() => broadcast({ ranks: 2, roots: 1 } as never)).toThrow(unknown("roots", "root"));
    const options = { name: "mine", ranks: 2, inputChunks: 1, outputChunks: 1, postcondition: () => undefined };
    expect(() => custom({ ...options, post: 1 } as never)).toThrow(unknown("post", "postcondition"));
  });

  it("by defineProgram, and by the algorithms that there are", () => {
    const options = { collective: allReduce({ ranks: 2 }), instance: 2 };
    expect(() => defineProgram(options, () => {})).toThrow(unknown("instance", "instances"));
    const wrong = { ranks: 2, nodes: 1, gpus: 2, protocoll: "ll" };
    for (const define of Object.values(algorithms)) expect(() => define(wrong)).toThrow(unknown("protocoll", "protocol"));
    expect(() => algorithms.allPairsAllGather({ ranks: 2, channels: 2 } as never)).toThrow(unknown("channels"));
    expect(algorithms.ringAllReduce({ ranks: 2, channels: 2 }).name).toContain("2 channels");
  });

  it("by compile", () => {
    const definition = defineProgram({ collective: broadcast({ ranks: 1 }) }, ({ chunk }) => chunk(0, "input").copy(0, "output"));
    expect(() => compile(definition, { channels: 4 } as never)).toThrow(unknown("channels", "channelLimit"));
  });
});
