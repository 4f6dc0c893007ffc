import { type SchedulePolicy, simulationPolicy } from "@dfccl/scheduler";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SimulationConfigError } from "../../src/deadlock/config.js";
import { RandomStream } from "../../src/deadlock/random-stream.js";
import { EventQueue } from "../../src/schedule/event-queue.js";
import { gpuCosts, type HostAction, type ScheduleScenario } from "../../src/schedule/scenario.js";
import { simulateSchedule } from "../../src/schedule/simulate-schedule.js";
import { infiniband } from "../../src/schedule/topology.js";
import { parseScheduleWorkload, scenarioOf } from "../../src/schedule/workload.js";

const link = { alphaNs: 1000, gigabytesPerSecond: 10 };
const topology = { ranksPerIsland: 8, island: link, network: infiniband };
const adaptive = simulationPolicy("adaptive");
const inOrder = simulationPolicy("in-order", { streams: 1 });

function scenario(policy: SchedulePolicy, bytes: readonly number[], hosts: readonly (readonly HostAction[])[]): ScheduleScenario {
  const ranks = hosts.map((_, rank) => rank);
  return { topology, costs: gpuCosts, policy, collectives: bytes.map((size) => ({ bytes: size, ranks, priority: 0 })), hosts };
}

const submit = (collective: number): HostAction => ({ atNs: 0, collective });
const synchronize: HostAction = { atNs: 0 };

describe("simulateSchedule", () => {
  it.each([
    [2, 1_000_000],
    [4, 8],
    [8, 64_000_000],
  ])("takes what the α–β model says for one all-reduce: %i ranks, %i bytes", (ranks, bytes) => {
    const { endNs, finished } = simulateSchedule(
      scenario(
        adaptive,
        [bytes],
        Array.from({ length: ranks }, () => [submit(0)]),
      ),
    );
    const steps = 2 * (ranks - 1);
    const transfers = (steps * bytes) / ranks / link.gigabytesPerSecond;
    expect(finished).toBe(true);
    // The last step's data needn't be waited for; polls and steps cost a little, and a quit while a long transfer lasts too.
    expect(endNs).toBeGreaterThanOrEqual(transfers + (steps - 1) * link.alphaNs);
    expect(endNs).toBeLessThan(1.01 * transfers + steps * (link.alphaNs + 2 * (gpuCosts.stepNs + gpuCosts.pollNs)));
  });

  it("deadlocks in order where two ranks disagree, and completes with preemption", () => {
    const hosts = [
      [submit(0), submit(1)],
      [submit(1), submit(0)],
    ];
    expect(simulateSchedule(scenario(inOrder, [1000, 1000], hosts)).finished).toBe(false);
    expect(simulateSchedule(scenario(adaptive, [1000, 1000], hosts))).toMatchObject({ finished: true });
  });

  it("deadlocks with synchronizations in between where the daemon doesn't quit, and completes where it does", () => {
    const hosts = [
      [submit(0), synchronize, submit(1)],
      [submit(1), synchronize, submit(0)],
    ];
    const stays = simulationPolicy("adaptive", { quit: { kind: "whenEmpty" } });
    expect(simulateSchedule(scenario(stays, [1000, 1000], hosts)).finished).toBe(false);
    const result = simulateSchedule(scenario(adaptive, [1000, 1000], hosts));
    expect(result.finished).toBe(true);
    expect(result.quits).toBeGreaterThan(0);
  });

  it("completes any orders with any synchronizations under every policy that preempts", () => {
    const orders = fc
      .integer({ min: 1, max: 7 })
      .chain((count) => fc.array(fc.shuffledSubarray([...Array(count).keys()], { minLength: count }), { minLength: 2, maxLength: 4 }));
    fc.assert(
      fc.property(orders, fc.constantFrom("adaptive", "fixed", "decreasing", "priority"), fc.nat(5), (lists, name, every) => {
        const hosts = lists.map((list) => list.flatMap((c, i) => (every > 0 && i % every === 0 ? [submit(c), synchronize] : [submit(c)])));
        const bytes = (lists[0] ?? []).map((c) => 1000 * (c + 1));
        expect(simulateSchedule(scenario(simulationPolicy(name), bytes, hosts)).finished).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    [
      "the threshold is reached soon",
      simulationPolicy("fixed", { stickiness: { initialThreshold: 1000, maximumThreshold: 1000 } }),
      4e8,
      infiniband,
    ],
    ["the link is slow", adaptive, 1e9, { alphaNs: 5000, gigabytesPerSecond: 1 }],
  ])("takes no send that lasts long for a deadlock, where %s", (_, policy, bytes, network) => {
    // While ranks 0 and 2 send, rank 1 waits for rank 0 and finds nothing for longer than any daemon's patience.
    const large = { bytes, ranks: [0, 2], priority: 0 };
    const small = { bytes: 1024, ranks: [0, 1], priority: 0 };
    const result = simulateSchedule({
      topology: { ranksPerIsland: 1, island: link, network },
      costs: gpuCosts,
      policy,
      collectives: [large, small],
      hosts: [[submit(0), submit(1)], [submit(1)], [submit(0)]],
    });
    expect(result.finished).toBe(true);
    expect(result.endNs).toBeGreaterThan(bytes / network.gigabytesPerSecond);
  });

  it("lets a network card carry one message after the other", () => {
    const pairs = [
      [0, 2],
      [1, 3],
    ];
    const endOf = (ranksPerIsland: number): number =>
      simulateSchedule({
        topology: { ranksPerIsland, island: link, network: link },
        costs: gpuCosts,
        policy: adaptive,
        collectives: pairs.map((ranks) => ({ bytes: 1e7, ranks, priority: 0 })),
        hosts: [0, 1, 2, 3].map((rank) => [submit(rank % 2)]),
      }).endNs;
    expect(endOf(2)).toBeGreaterThan(1.4 * endOf(4));
  });

  it("counts polls that fail in a row at once, with the same outcome as one by one", () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const [skipping, plain] = [false, true].map((everyPoll) => simulateSchedule(randomScenario(seed), { everyPoll }));
        if (skipping === undefined || plain === undefined) throw new RangeError("two results");
        expect(skipping.endNs).toBeCloseTo(plain.endNs, 0);
        expect(skipping).toMatchObject({
          finished: plain.finished,
          preemptions: plain.preemptions,
          quits: plain.quits,
          ranks: plain.ranks,
        });
        expect(skipping.events).toBeLessThan(plain.events);
      }),
      { numRuns: process.env.DFCCL_TEST_TIER === "long" ? 150 : 6 },
    );
  }, 300_000);
});

/** A few ranks and collectives, at times without a common grid: two things at the very same time may come in either order. */
function randomScenario(seed: number): ScheduleScenario {
  const random = new RandomStream().seed(seed, 0, 0);
  const [ranks, count] = [2 + random.below(3), 1 + random.below(5)];
  const names = ["adaptive", "fixed", "decreasing", "priority", "in-order"] as const;
  const name = names[random.below(names.length)] ?? "adaptive";
  const quit = { idleVisits: 4200 + random.below(2000) };
  const hosts = Array.from({ length: ranks }, () => {
    let atNs = 0;
    return shuffled(count, random).flatMap((collective): HostAction[] => {
      atNs += random.uniform() * 20_000;
      return random.uniform() < 0.2 ? [{ atNs, collective }, { atNs }] : [{ atNs, collective }];
    });
  });
  const bytes = Array.from({ length: count }, () => 8 * ranks * (1 + random.below(20_000)));
  return {
    ...scenario(name === "in-order" ? inOrder : simulationPolicy(name, { quit }), bytes, hosts),
    topology: { ranksPerIsland: 2, island: link, network: { alphaNs: 4096, gigabytesPerSecond: 2 } },
    costs: { pollNs: 32, stepNs: 256, switchNs: 512 * random.below(2), restartNs: 8192 },
  };
}

function shuffled(count: number, random: RandomStream): number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i -= 1) {
    const j = random.below(i + 1);
    [order[i], order[j]] = [order[j] ?? 0, order[i] ?? 0];
  }
  return order;
}

describe("EventQueue", () => {
  it("gives events by time, and those of one time as they came", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 200 }), (times) => {
        const queue = new EventQueue();
        times.forEach((time, rank) => {
          queue.add(time, rank);
        });
        const taken = times.map(() => ({ time: queue.nextTime, rank: queue.take() }));
        const expected = times.map((time, rank) => ({ time, rank })).sort((a, b) => a.time - b.time);
        expect(taken).toEqual(expected);
        expect(queue.take()).toBeUndefined();
        expect(queue.nextTime).toBe(Number.POSITIVE_INFINITY);
      }),
    );
  });
});

describe("a workload", () => {
  const valid = { ranks: 2, topology, collectives: [{ bytes: 8, atNs: 0 }] };

  it("is simulated the same for the same seed", () => {
    const workload = parseScheduleWorkload({ ...valid, collectives: Array(20).fill({ bytes: 9000, atNs: 0 }), disorderProbability: 0.5 });
    const run = (seed: number) => simulateSchedule(scenarioOf(workload, seed)).endNs;
    expect(run(3)).toBe(run(3));
    expect(new Set([1, 2, 3, 4, 5].map(run)).size).toBeGreaterThan(1);
  });

  it.each([
    ["an unknown key", { ...valid, speed: 2 }, /speed is 2: no such key/],
    ["no collectives", { ...valid, collectives: [] }, /collectives is \[\]/],
    ["a late rank that isn't there", { ...valid, late: [{ rank: 2, byNs: 1 }] }, /late\[0\]\.rank is 2: must be a rank from 0 to 1/],
    ["an absurd number of ranks", { ...valid, ranks: 1e9 }, /ranks is 1000000000: must be <=100000/],
    ["a link without bandwidth", { ...valid, topology: { ...topology, island: { alphaNs: 1, gigabytesPerSecond: 0 } } }, /must be >0/],
  ])("is refused where it can't be: %s", (_, workload, message) => {
    expect(() => parseScheduleWorkload(workload)).toThrow(SimulationConfigError);
    expect(() => parseScheduleWorkload(workload)).toThrow(message);
  });
});
