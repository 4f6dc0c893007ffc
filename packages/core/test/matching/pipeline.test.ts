// One forward, one backward: neighbours who both send before they receive, with pauses of any length, complete here, and wait for
// each other for ever where a rank does one thing after the other.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DeadlockError, openWorld, type World, type WorldOptions } from "../../src/index.js";
import { failureOf, turns } from "../support/open.js";
import { gradientOf, type Pipeline, runStage } from "../support/pipeline.js";

const stages = 4;

/** @param pauses - turns of the event loop, one after the other, of whichever stage comes next. */
function pipeline(microBatches: number, sendsFirst: Pipeline["sendsFirst"], pauses: readonly number[]): Pipeline {
  let drawn = 0;
  const delay = (): Promise<void> => {
    drawn += 1;
    return turns(pauses[drawn % pauses.length] ?? 0);
  };
  return { stages, microBatches, sendsFirst, delay };
}

async function run(world: World, which: Pipeline): Promise<number[][]> {
  const [results] = await Promise.all(world.ranks.map((rank) => runStage(rank, which)));
  return (results ?? []).map((gradient) => [...gradient]);
}

const expected = (microBatches: number): number[][] => Array.from({ length: microBatches }, (_, k) => [...gradientOf(stages, k)]);
const always = (): boolean => true;
/** As callers must arrange it who have no other way: of two neighbours one sends first, and the other receives. */
const byTurns = (stage: number): boolean => stage % 2 === 0;
const pauses = fc.array(fc.nat(6), { minLength: 1, maxLength: 40 });
const inOrder = { ranks: stages, policy: "in-order", streams: 1 } as const satisfies WorldOptions;

describe("a pipeline of four stages, each sending before it receives", () => {
  it("completes with any pauses and number of micro-batches, bit for bit", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 30 }), pauses, fc.boolean(), async (microBatches, delays, isNarrow) => {
        const slots = isNarrow ? { submissionSlots: 16, completionSlots: 16 } : {};
        using world = openWorld({ ranks: stages, ...slots });
        expect(await run(world, pipeline(microBatches, always, delays))).toEqual(expected(microBatches));
      }),
      { numRuns: 30 },
    );
  });

  it("control: in order deadlocks with any pauses, and the cycle is of neighbours that hold a message each", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: stages, max: 30 }), pauses, async (microBatches, delays) => {
        using world = openWorld(inOrder);
        const failure = await failureOf(run(world, pipeline(microBatches, always, delays)));
        expect(failure).toBeInstanceOf(DeadlockError);
        const { cycle } = (failure as DeadlockError).report;
        const ranks = [...new Set(cycle.map(({ rank }) => rank))].sort();
        expect(ranks).toHaveLength(2);
        expect((ranks[1] ?? 0) - (ranks[0] ?? 0)).toBe(1);
        expect(cycle.filter(({ state }) => state === "executing")).toHaveLength(2);
      }),
      { numRuns: 20 },
    );
  });

  it("control: in order completes where of two neighbours only one sends first", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: stages, max: 30 }), pauses, async (microBatches, delays) => {
        using world = openWorld(inOrder);
        expect(await run(world, pipeline(microBatches, byTurns, delays))).toEqual(expected(microBatches));
        expect(world.deadlock()).toBeUndefined();
      }),
      { numRuns: 20 },
    );
  });
});
