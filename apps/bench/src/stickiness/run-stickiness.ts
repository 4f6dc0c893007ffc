import { openWorld, type Rank, type RegisteredCollective } from "@dfccl/core";
import { Random } from "../disorder/random.js";
import { BenchError } from "../peers/bench-error.js";
import type { CompletionSample, StickinessRun } from "./report.js";

export interface StickinessSetting {
  readonly policy: "fixed" | "adaptive";
  readonly ranks: number;
  readonly collectives: number;
  /** Float32 elements of each. */
  readonly elements: number;
  readonly iterations: number;
  readonly lateRank: number;
  readonly lateMs: number;
  readonly seed: number;
}

interface Member {
  readonly rank: Rank;
  readonly collectives: readonly RegisteredCollective[];
  readonly inputs: readonly Float32Array[];
  readonly outputs: readonly Float32Array[];
}

/**
 * All-reduces in random orders on every rank, one rank late, under one policy (DFCCL, section 6.4 and Fig. 11).
 * @throws {BenchError} WRONG_RESULTS
 */
export async function runStickiness(setting: StickinessSetting, onIteration: () => void, signal?: AbortSignal): Promise<StickinessRun> {
  await using world = openWorld({ ranks: setting.ranks, policy: setting.policy });
  const random = new Random(setting.seed);
  const members = world.ranks.map((rank) => register(rank, setting));
  const first = members[0]?.rank;
  await iterate(setting, members, random);
  const before = totals(members);
  const started = performance.now();
  for (let i = 0; i < setting.iterations; i += 1) {
    signal?.throwIfAborted();
    await iterate(setting, members, random);
    onIteration();
  }
  const seconds = (performance.now() - started) / 1000;
  const after = totals(members);
  const completions: CompletionSample[] = [];
  let last = first && countersOf(first);
  await iterate(setting, members, random, (collective) => {
    const now = first && countersOf(first);
    if (now === undefined || last === undefined) return;
    const visits = now.visits - last.visits;
    const length = visits > 0 ? (now.queueLengthSum - last.queueLengthSum) / visits : (completions.at(-1)?.queueLength ?? 0);
    completions.push({ collective, switches: now.preemptions - last.preemptions, queueLength: length });
    last = now;
  });
  check(members);
  const visits = after.visits - before.visits;
  return {
    policy: setting.policy,
    lateMs: setting.lateMs,
    iterationsPerSecond: setting.iterations / seconds,
    preemptions: after.preemptions - before.preemptions,
    quits: after.quits - before.quits,
    meanQueueLength: (after.queueLengthSum - before.queueLengthSum) / Math.max(1, visits),
    completions,
  };
}

function register(rank: Rank, { collectives, elements }: StickinessSetting): Member {
  const ids = Array.from({ length: collectives }, (_, id) => id);
  return {
    rank,
    collectives: ids.map((id) => rank.register({ id, collective: "all-reduce", dataType: "float32", count: elements })),
    inputs: ids.map((id) => rank.allocate("float32", elements).fill(rank.number + id + 1)),
    outputs: ids.map(() => rank.allocate("float32", elements)),
  };
}

async function iterate(
  { lateRank, lateMs }: StickinessSetting,
  members: readonly Member[],
  random: Random,
  onComplete?: (collective: number) => void,
): Promise<void> {
  const orders = members.map(({ collectives }) => random.shuffle(collectives.map((_, id) => id)));
  await Promise.all(
    members.map(async ({ rank, collectives, inputs, outputs }, number) => {
      if (number === lateRank && lateMs > 0) await new Promise((resolve) => setTimeout(resolve, lateMs));
      const runs = (orders[number] ?? []).flatMap((id) => {
        const [collective, input, output] = [collectives[id], inputs[id], outputs[id]];
        return collective && input && output ? [{ id, run: [collective, input, output] as const }] : [];
      });
      await Promise.all(
        runs.map(({ id, run }) => rank.submit([run], onComplete && number === 0 ? { onComplete: () => onComplete(id) } : {})),
      );
    }),
  );
}

interface Totals {
  readonly preemptions: number;
  readonly visits: number;
  readonly queueLengthSum: number;
  readonly quits: number;
}

function countersOf(rank: Rank): Totals {
  const { blocks, quits } = rank.counters();
  const sum = (of: (block: (typeof blocks)[number]) => number): number => blocks.reduce((total, block) => total + of(block), 0);
  return {
    preemptions: sum((block) => block.preemptions),
    visits: sum((block) => block.visits),
    queueLengthSum: sum((block) => block.meanQueueLength * block.visits),
    quits,
  };
}

function totals(members: readonly Member[]): Totals {
  return members
    .map(({ rank }) => countersOf(rank))
    .reduce((a, b) => ({
      preemptions: a.preemptions + b.preemptions,
      visits: a.visits + b.visits,
      queueLengthSum: a.queueLengthSum + b.queueLengthSum,
      quits: a.quits + b.quits,
    }));
}

/** Small whole numbers, whose sums are exact in any order. */
function check(members: readonly Member[]): void {
  for (const { rank, outputs } of members) {
    for (const [id, output] of outputs.entries()) {
      const expected = members.reduce((sum, { rank: { number } }) => sum + number + id + 1, 0);
      if (output.every((value) => value === expected)) continue;
      throw new BenchError(
        "WRONG_RESULTS",
        `All-reduce ${id} is wrong on rank ${rank.number}.`,
        "Its time says nothing; find out why first.",
      );
    }
  }
}
