import { describe, expect, it } from "vitest";
import { runRanks } from "../src/index.js";
import type { DisorderArgs } from "./fixtures/disorder.js";

const isLong = process.env.DFCCL_TEST_TIER === "long";
const steps = isLong ? 1000 : 60;
const ranks = isLong ? 4 : 3;
const program = new URL("./fixtures/disorder.ts", import.meta.url);
const seed = Math.floor(Math.random() * 2 ** 30);
const args: DisorderArgs = { steps, seed, chance: 0.1 };

describe(`another order of the gradients on each of ${ranks} ranks, with pauses and device synchronizations: seed ${seed}`, () => {
  it(`completes ${steps} steps, and leaves the same parameters everywhere`, async () => {
    let ended = 0;
    const parameters = (await runRanks({ ranks, program, args, onReport: () => (ended += 1) })) as number[][];
    expect(ended).toBe(ranks * steps);
    expect(parameters[0]).toHaveLength(24);
    for (const others of parameters.slice(1)) expect(others).toEqual(parameters[0]);
    if (isLong) process.stdout.write(`${JSON.stringify({ ranks, steps, completedSteps: ended / ranks, seed })}\n`);
  });

  it("control: deadlocks where every rank runs them strictly in its own order", async () => {
    const deadlock = await runRanks({ ranks, program, args: { ...args, chance: 0 }, policy: "in-order" }).catch((error: unknown) => error);
    expect(deadlock).toMatchObject({ code: "DEADLOCK" });
  });
});
