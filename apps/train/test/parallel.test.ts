import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Checkpoint, decodeCheckpoint } from "../src/checkpoint/format.js";
import { planTraining, train } from "../src/index.js";
import { parseParallel, positionOf } from "../src/training/parallel-layout.js";
import { temporaryFolder } from "./support/folder.js";

const folder = temporaryFolder();
const isLong = process.env.DFCCL_TEST_TIER === "long";
const steps = isLong ? 50 : 3;
const layouts = isLong ? ["tp=2", "tp=4", "pp=2", "pp=4", "dp=2", "dp=2,tp=2,pp=2"] : ["tp=2", "dp=2,pp=2"];

async function trained(parallel: string, ranks: number): Promise<Checkpoint> {
  const options = { model: "gpt", ranks, parallel, steps, globalBatch: 16, optimizer: "momentum", learningRate: 0.05, loaders: 0 } as const;
  const { checkpoint = "" } = await train({ ...options, checkpoint: { folder: join(folder, parallel) } });
  const found = decodeCheckpoint(readFileSync(checkpoint));
  if (typeof found === "string") throw new Error(found);
  return found;
}

describe("a GPT cut in any way", () => {
  it(`has the same parameters after ${steps} steps as on one rank: ${layouts.join("; ")}`, async () => {
    const alone = await trained("dp=1", 1);
    const differences: Record<string, number> = {};
    for (const parallel of layouts) {
      const ranks = [...parallel.matchAll(/\d/g)].reduce((product, [digit]) => product * Number(digit), 1);
      const { state } = await trained(parallel, ranks);
      expect(state.arrays.map(({ name }) => name).sort()).toEqual(alone.state.arrays.map(({ name }) => name).sort());
      let most = 0;
      for (const { name, values } of alone.state.arrays) {
        const others = state.arrays.find((array) => array.name === name)?.values ?? [];
        for (const [i, value] of values.entries()) most = Math.max(most, Math.abs(value - (others[i] ?? Number.NaN)));
      }
      expect(most, parallel).toBeLessThan(1e-4);
      differences[parallel] = most;
    }
    if (isLong) process.stdout.write(`${JSON.stringify({ steps, largestDifference: differences })}\n`);
  });
});

describe("a layout", () => {
  it("gives every rank its place in three groups that cross", () => {
    const parallel = parseParallel("dp=2,tp=2,pp=3", 12);
    for (let rank = 0; rank < 12; rank += 1) {
      const position = positionOf(rank, parallel);
      expect(position.dataGroup[position.data]).toBe(rank);
      expect(position.tensorGroup[position.tensor]).toBe(rank);
      expect(position.pipeline[position.stage]).toBe(rank);
    }
  });

  it("is by data alone where nothing is said", () => {
    expect(parseParallel("", 4)).toEqual({ dp: 4, tp: 1, pp: 1 });
    expect(parseParallel("tp=2", 4)).toEqual({ dp: 2, tp: 2, pp: 1 });
  });

  it.each(["dp=0", "dp", "dp=2,dp=2", "x=3", "tp=2,tp=1"])("is refused: %s", (text) => {
    expect(() => parseParallel(text, 2)).toThrow(expect.objectContaining({ code: "PLAN" }));
  });

  it.each([
    [{ model: "gpt", ranks: 8, parallel: "dp=2,tp=2" }, "makes 4 ranks, not 8"],
    [{ model: "gpt", ranks: 3, parallel: "tp=3" }, "gpt can't be cut into 3 parts of a layer. Give tp=1 or 2 or 4."],
    [{ model: "mnist", ranks: 2, parallel: "pp=2" }, "mnist can't be cut into 2 stages"],
    [{ model: "gpt", ranks: 4, parallel: "dp=2,pp=2", globalBatch: 6 }, "can't be shared among 2 × 4 micro-batches"],
  ])("must suit ranks, model and batch: %j", (options, reason) => {
    expect(() => planTraining(options)).toThrow(reason);
  });
});
