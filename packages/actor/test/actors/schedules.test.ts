import { SeededRandom } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { ActorProtocolError, KernelError, runActors, VirtualClock } from "../../src/index.js";
import { delayedBus, type Fault } from "../support/delayed-bus.js";
import { randomPlan } from "../support/random-plan.js";
import { RegisterWatch } from "../support/register-watch.js";

const schedules = 10_000;
const records = 5;

interface Outcome {
  readonly error: unknown;
  readonly faults: readonly string[];
  readonly isFinished: boolean;
  readonly allocated: number;
  readonly bound: number;
}

async function run(seed: number, options: { fault?: Fault; isOrderKept?: boolean } = {}): Promise<Outcome> {
  const clock = new VirtualClock();
  const random = new SeededRandom(seed);
  const plan = randomPlan(random, clock, records);
  const watch = new RegisterWatch(plan);
  const bus = delayedBus(clock, random, 12, { watch: watch.see, ...(options.fault ? { fault: options.fault } : {}) });
  let allocated = 0;
  const { finished } = runActors(plan, {
    clock,
    bus,
    isOrderKept: options.isOrderKept ?? true,
    pick: (ready) => ready[random.below(ready.length)],
    allocate: (elements) => {
      allocated += elements;
      return new Float32Array(elements);
    },
  });
  let isFinished = false;
  let error: unknown;
  const settled = finished.then(
    () => {
      isFinished = true;
    },
    (reason: unknown) => {
      error = reason;
    },
  );
  clock.run();
  // A run that lost a message never settles; one that did has settled by now.
  await Promise.race([settled, new Promise((resolve) => setImmediate(resolve))]);
  const faults = isFinished && watch.lost() > 0 ? [...watch.faults, `${watch.lost()} registers are lost`] : watch.faults;
  const bound = plan.registers.reduce(
    (sum, { count = 1, elements = 0, inPlaceOf }) => sum + (inPlaceOf === undefined ? count * elements : 0),
    0,
  );
  return { error, faults, isFinished, allocated, bound };
}

describe("actors under random delays of messages and kernels", () => {
  it(`finish in ${schedules} schedules: no register lost or doubled, memory as the counts say`, async () => {
    for (let seed = 0; seed < schedules; seed += 1) {
      const { error, faults, isFinished, allocated, bound } = await run(seed);
      if (error !== undefined || faults.length > 0 || !isFinished || allocated !== bound) {
        throw new Error(`seed ${seed}: ${error ?? faults[0] ?? (isFinished ? `${allocated} of ${bound} elements` : "never ended")}`, {
          cause: error,
        });
      }
    }
  });

  it("do the same again from the same seed", async () => {
    const trace = async (): Promise<string> => {
      const clock = new VirtualClock();
      const random = new SeededRandom(5);
      const acts: string[] = [];
      const { finished } = runActors(randomPlan(random, clock, 20), {
        clock,
        bus: delayedBus(clock, random, 12),
        onAct: ({ task, act, beganAt, endedAt }) => acts.push(`${task} ${act} ${beganAt} ${endedAt}`),
      });
      clock.run();
      await finished;
      return acts.join("\n");
    };
    const first = await trace();
    expect(first.length).toBeGreaterThan(500);
    expect(await trace()).toBe(first);
  });

  it("control: a lost acknowledgement is a register that never comes back", async () => {
    const outcomes = await Promise.all(range(200).map((seed) => run(seed, { fault: { kind: "acknowledgement", nth: 2, what: "drop" } })));
    expect(outcomes.filter(({ isFinished }) => isFinished)).toEqual([]);
  });

  it("control: a register released twice is noticed", async () => {
    const outcomes = await Promise.all(range(200).map((seed) => run(seed, { fault: { kind: "acknowledgement", nth: 2, what: "double" } })));
    // Between ranks the numbers of messages would make it a message of the future, which nobody waits for.
    const noticed = outcomes.filter(({ error }) => error instanceof ActorProtocolError || error instanceof KernelError);
    expect(noticed.length).toBeGreaterThan(50);
    expect(outcomes.filter(({ faults }) => faults.length > 0).length).toBe(outcomes.length);
  });

  it("control: without the numbers of messages between ranks, results overtake each other", async () => {
    const outcomes = await Promise.all(range(300).map((seed) => run(seed, { isOrderKept: false })));
    const reordered = outcomes.filter(({ error }) => error instanceof KernelError && error.message.includes("holds record"));
    expect(reordered.length).toBeGreaterThan(10);
  });
});

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}
