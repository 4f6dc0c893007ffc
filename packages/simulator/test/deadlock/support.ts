import { type DeadlockConfig, parseDeadlockConfig } from "../../src/deadlock/config.js";
import { RoundSimulator } from "../../src/deadlock/simulate-round.js";

type Grouping = DeadlockConfig["grouping"];

export function threeD(tp: number, dp: number, pp: number, perTpGroup: number, perDpGroup: number): Grouping {
  return { policy: "3d", tp, dp, pp, collectivesPerTpGroup: perTpGroup, collectivesPerDpGroup: perDpGroup };
}

/** Groups by their GPUs, each with so many collectives. */
export function free(groups: readonly (readonly number[])[], collectives: number): Grouping {
  const gpus = 1 + Math.max(...groups.flat());
  return { policy: "free", gpus, groups: groups.map((group) => ({ gpus: [...group], collectives })) };
}

export function singleQueue(grouping: Grouping, p: number, more: Partial<DeadlockConfig> = {}): DeadlockConfig {
  return parseDeadlockConfig({ model: "single-queue", grouping, disorderProbability: p, ...more });
}

export function synchronization(grouping: Grouping, p: number, s: number, more: Partial<DeadlockConfig> = {}): DeadlockConfig {
  return parseDeadlockConfig({
    model: "synchronization",
    grouping,
    disorderProbability: p,
    synchronizationProbability: s,
    ...more,
  });
}

export function countDeadlocks(config: DeadlockConfig, rounds: number, seed = 1): number {
  const simulator = new RoundSimulator(config, seed);
  let deadlocks = 0;
  for (let round = 0; round < rounds; round += 1) deadlocks += simulator.simulate(round) === undefined ? 0 : 1;
  return deadlocks;
}
