import { describe, expect, it } from "vitest";
import { readOverheads } from "../../src/overheads/read-overheads.js";
import { overheadsOutput } from "./overheads-output.js";

describe("several runs of overheads_bench", () => {
  it("give the median of each part, and the best of all", () => {
    const { parts, whole, noopRunsPerSecond } = readOverheads([overheadsOutput(10), overheadsOutput(30), overheadsOutput(20)]);
    expect(parts.find(({ part }) => part === "sqeRead")).toEqual({ part: "sqeRead", ns: 20, bestNs: 5 });
    expect(whole).toEqual([{ ranks: 2, bytes: 8, wholeUs: 20, bareUs: 2, addedNsPerRank: 9000, ratio: 10 }]);
    expect(noopRunsPerSecond).toBe(5e7);
  });

  it("keep the memory as it is", () => {
    expect(readOverheads([overheadsOutput(10)]).memory).toEqual({
      registered: 1000,
      ranks: 8,
      bytesPerRankAndCollective: 583,
      residentBytesPerRankAndCollective: 1200,
      arenaBytes: 0,
    });
  });

  it("are refused with a wrong result", () => {
    expect(() => readOverheads([overheadsOutput(10, 3)])).toThrow(/3 elements of an all-reduce of 8 bytes are wrong/);
  });

  it.each(["part", "wholeUs", "registered", "noopRunsPerSecond"])("are refused without the lines that have %s", (field) => {
    const lines = overheadsOutput(10).split("\n");
    const output = lines.filter((line) => !line.includes(`"${field}"`)).join("\n");
    expect(() => readOverheads([output])).toThrow(/overheads_bench (did not measure everything|wrote no number)/);
  });

  it("are refused where a later run misses a part", () => {
    const lines = overheadsOutput(10).split("\n");
    const shorter = lines.filter((line) => !line.includes("sqeRead")).join("\n");
    expect(() => readOverheads([overheadsOutput(10), shorter])).toThrow(/no number for ns/);
  });
});
