import { describe, expect, it } from "vitest";
import { RankLostError, runRanks } from "../src/index.js";

const program = new URL("./fixtures/ends.ts", import.meta.url);

describe("ranks in threads of their own", () => {
  it("return what their programs return, by rank", async () => {
    expect(await runRanks({ ranks: 3, program, args: "never" })).toEqual(["rank 0 went on", "rank 1 went on", "rank 2 went on"]);
  });

  it.each([
    ["throw", "failed: out of luck"],
    ["exit", "ended with exit code 3 before its program did"],
  ])("are stopped with the name of the one that ends first: %s", async (how, reason) => {
    const lost = await runRanks({ ranks: 3, program, args: how }).catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(RankLostError);
    expect(lost).toMatchObject({ code: "RANK_LOST", facts: { rank: 1, how: reason } });
  });

  it("are refused where there are none", async () => {
    await expect(runRanks({ ranks: 0, program })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it.each(["https://example.org/program.js", "blob:nodedata:1", "program.js"])(
    "are refused a program that no thread can load: %s",
    async (url) => {
      await expect(runRanks({ ranks: 2, program: url })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
        facts: { argument: "program" },
      });
    },
  );

  it("train by several lists of variables, which all start alike and have averages of their own", async () => {
    const lists = new URL("./fixtures/lists.ts", import.meta.url);
    // Factors of 1 and 2: each gradient is 1.5 on both.
    expect(await runRanks({ ranks: 2, program: lists })).toEqual([
      [-3, 97],
      [-3, 97],
    ]);
  });
});
