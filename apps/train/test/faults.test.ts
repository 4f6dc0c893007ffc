import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

describe("a checkpoint that can't be saved", () => {
  /** A file takes the folder's place once a step is done, as when a disk goes away. */
  const losing = (checkpoint: { folder: string }) => ({
    checkpoint,
    onStep({ step }: { step: number }): void {
      if (step !== 1) return;
      rmSync(checkpoint.folder, { recursive: true });
      writeFileSync(checkpoint.folder, "");
    },
  });

  it("is known before a rank starts where the folder is a file", async () => {
    const path = join(folder, "file");
    writeFileSync(path, "");
    // The program isn't there, so a rank that started would fail otherwise.
    const program = new URL("./fixtures/nowhere.ts", import.meta.url);
    await expect(train({ ...small, checkpoint: { folder: path }, program })).rejects.toMatchObject({
      code: "CHECKPOINT",
      facts: { folder: path },
      remedy: expect.stringContaining("folder"),
      cause: expect.objectContaining({ code: "EEXIST" }),
    });
  });

  it("ends the run", async () => {
    const options = losing({ folder: join(folder, "lost") });
    await expect(train({ ...small, ...options, checkpoint: { ...options.checkpoint, every: 2 } })).rejects.toMatchObject({
      code: "CHECKPOINT",
    });
  });

  it("doesn't hide which rank died", async () => {
    const lost = train({ ...small, ...losing({ folder: join(folder, "lost with a rank") }), program: dies });
    await expect(lost).rejects.toMatchObject({
      code: "RANK_LOST",
      facts: { rank: 1, checkpoint: undefined },
      remedy: expect.stringContaining("No checkpoint can be saved"),
    });
  });
});

it("a callback that throws ends the run with what it threw", async () => {
  const failure = new Error("the caller's own");
  const onStep = (): void => {
    throw failure;
  };
  await expect(train({ ...small, onStep })).rejects.toBe(failure);
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

  it("passes over a folder that is named like a checkpoint", async () => {
    const named = join(checkpoint.folder, "step-00000009.checkpoint");
    mkdirSync(named);
    const resumed = await train({ ...small, ranks: 1, steps: 5, checkpoint: resume });
    expect(resumed.resumedAt).toBe(4);
    rmSync(named, { recursive: true });
    rmSync(join(checkpoint.folder, "step-00000005.checkpoint"));
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
