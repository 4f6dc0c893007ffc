import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { train } from "../src/index.js";
import { cacheFolder } from "./support/cache.js";
import { temporaryFolder } from "./support/folder.js";

const folder = temporaryFolder();
// Resumed, momentum goes on bit for bit; Adam computes the powers of its constants anew, and rounds otherwise.
const small = {
  model: "mnist",
  optimizer: "momentum",
  learningRate: 0.05,
  ranks: 2,
  steps: 6,
  globalBatch: 8,
  loaders: 0,
  cacheFolder,
} as const;
const dies = new URL("./fixtures/dies.ts", import.meta.url);

describe("a rank that dies", () => {
  it("stops the others with its name and a checkpoint, from which a resumed run gives the same losses as one that never stopped", async () => {
    const checkpoint = { folder: join(folder, "died"), resume: false };
    const lost = await train({ ...small, checkpoint, program: dies }).catch((error: unknown) => error);
    const path = join(checkpoint.folder, "step-00000003.checkpoint");
    expect(lost).toMatchObject({ code: "RANK_LOST", facts: { rank: 1, how: expect.stringContaining("exit code 9"), checkpoint: path } });
    expect((lost as Error).message).toContain("--resume");

    const whole = await train(small);
    const resumed = await train({ ...small, checkpoint: { ...checkpoint, resume: true } });
    expect(resumed.resumedAt).toBe(3);
    expect(resumed.losses).toEqual(whole.losses);
  });

  it("leaves nothing behind where there is no folder", async () => {
    const lost = await train({ ...small, program: dies }).catch((error: unknown) => error);
    expect(lost).toMatchObject({ code: "RANK_LOST", facts: { rank: 1, checkpoint: undefined } });
  });
});

describe("a run that is interrupted", () => {
  it("stops with a checkpoint", async () => {
    const interruption = new AbortController();
    const checkpoint = { folder: join(folder, "interrupted") };
    const onStep = ({ step }: { step: number }): void => {
      if (step === 2) interruption.abort();
    };
    const stopped = await train({ ...small, steps: 1000, checkpoint, onStep, signal: interruption.signal }).catch(
      (error: unknown) => error,
    );
    expect(stopped).toMatchObject({ code: "INTERRUPTED", facts: { checkpoint: expect.stringContaining("step-") } });
  });
});

describe("resuming", () => {
  const checkpoint = { folder: join(folder, "several"), every: 2 };
  const corrupted: string[] = [];
  const resume = { ...checkpoint, resume: true, onCorrupt: (path: string) => corrupted.push(path) };

  it("passes a corrupt checkpoint over, names it, and goes on from the older one", async () => {
    const { losses } = await train({ ...small, ranks: 1, steps: 4, checkpoint });
    expect(readdirSync(checkpoint.folder)).toEqual(["step-00000002.checkpoint", "step-00000004.checkpoint"]);
    const newest = join(checkpoint.folder, "step-00000004.checkpoint");
    const bytes = readFileSync(newest);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(newest, bytes);
    const resumed = await train({ ...small, ranks: 1, steps: 4, checkpoint: resume });
    expect(corrupted).toEqual([newest]);
    expect(resumed.resumedAt).toBe(2);
    expect(resumed.losses).toEqual(losses);
  });

  it.each([
    ["of another seed", { seed: 2 }, "seed 1"],
    ["that has done all steps", { steps: 2 }, "steps already"],
  ])("refuses a checkpoint %s", async (_what, change, reason) => {
    await expect(train({ ...small, ranks: 1, ...change, checkpoint: { ...resume } })).rejects.toThrow(reason);
  });

  it("says where there is none", async () => {
    await expect(train({ ...small, checkpoint: { folder: join(folder, "nothing"), resume: true } })).rejects.toMatchObject({
      code: "CHECKPOINT",
    });
  });
});
