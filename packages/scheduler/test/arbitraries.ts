import fc from "fast-check";
import { checkPolicy, type SchedulePolicy } from "../src/index.js";

const uint32 = fc.nat({ max: 0xffff_ffff });
// Small values make things happen within a short sequence; large ones reach the ends of 32 bits.
const count = fc.oneof({ weight: 6, arbitrary: fc.nat({ max: 6 }) }, { weight: 1, arbitrary: uint32 });
const threshold = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 8 }) },
  { weight: 2, arbitrary: fc.integer({ min: 0x1000_0000, max: 0xffff_ffff }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 0xffff_ffff }) },
);

const order = fc.record({
  kind: fc.constantFrom("fifo" as const, "lifo" as const, "priority" as const),
  fetchEveryVisits: count,
  fetchWhenStuckVisits: count,
  fetchBatch: fc.integer({ min: 1, max: 8 }),
  fetchesPerLap: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant(0xffff_ffff)),
});

const stickiness = fc
  .record({
    kind: fc.constantFrom("fixed" as const, "decreasing" as const, "adaptive" as const),
    thresholds: fc.tuple(threshold, threshold, threshold),
    perPositionDecrement: count,
    raiseFactor: fc.oneof(
      fc.integer({ min: 256, max: 1024 }).map((x) => x / 256),
      fc.integer({ min: 256, max: 65_536 }).map((x) => x / 256),
    ),
  })
  .map(({ thresholds, ...rest }) => {
    const [minimumThreshold = 1, initialThreshold = 1, maximumThreshold = 1] = thresholds.toSorted((a, b) => a - b);
    return { ...rest, minimumThreshold, initialThreshold, maximumThreshold };
  });

const ticks = fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: Number.MAX_SAFE_INTEGER }));

const quit = fc.record({
  kind: fc.constantFrom("never" as const, "whenEmpty" as const, "voluntary" as const),
  idleVisits: count,
  idleTicks: ticks,
  residencyTicks: ticks,
});

/** Any policy that `checkPolicy` accepts. */
export const anyPolicy: fc.Arbitrary<SchedulePolicy> = fc
  .record({ order, stickiness, quit, streams: fc.oneof(fc.constant(0), fc.constant(0), fc.integer({ min: 1, max: 4 })) })
  .map((policy): SchedulePolicy => {
    const { maximumThreshold } = policy.stickiness;
    const tooSoon = policy.quit.idleVisits !== 0 && policy.quit.idleVisits <= maximumThreshold;
    return {
      order: policy.streams === 0 ? policy.order : { ...policy.order, kind: "fifo" },
      stickiness: policy.stickiness,
      quit: tooSoon ? { ...policy.quit, idleVisits: maximumThreshold < 0xffff_ffff ? maximumThreshold + 1 : 0 } : policy.quit,
      streams: policy.streams,
    };
  })
  .map((policy) => {
    checkPolicy(policy);
    return policy;
  });

/** Any policy that preempts. */
export const preemptivePolicy = anyPolicy.map((policy): SchedulePolicy => ({ ...policy, streams: 0 }));

/** Seed of a property run: DFCCL_SEED, or new each time. Printed by whoever fails. */
export const seed = Number(process.env.DFCCL_SEED ?? Date.now() % 0x7fff_ffff);
