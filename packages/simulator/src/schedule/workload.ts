import { checkInteger } from "@dfccl/primitives";
import { policyNames, simulationPolicy } from "@dfccl/scheduler";
import { z } from "zod";
import { parseWith } from "../deadlock/config.js";
import { RandomStream } from "../deadlock/random-stream.js";
import { gpuCosts, type HostAction, type ScheduleScenario } from "./scenario.js";

const mostRanks = 100_000;
// With a synchronization after each, they take about a gigabyte; the engine of Node has two to four.
const mostSubmissions = 5_000_000;
const time = z.number().min(0).max(1e12);
const link = z.strictObject({ alphaNs: time, gigabytesPerSecond: z.number().positive().max(1e6) });

const schema = z
  .strictObject({
    ranks: z.int().min(1).max(mostRanks),
    topology: z.strictObject({ ranksPerIsland: z.int().min(1).max(mostRanks), island: link, network: link }),
    policy: z.enum(policyNames).default("adaptive"),
    /** Submitted in this order, unless `disorderProbability` says otherwise. */
    collectives: z
      .array(
        z.strictObject({
          bytes: z
            .int()
            .min(1)
            .max(2 ** 40),
          priority: z.int().min(0).max(1000).default(0),
          atNs: time,
        }),
      )
      .min(1)
      .max(100_000),
    /** How much later than the others some ranks do everything. */
    late: z.array(z.strictObject({ rank: z.int().min(0), byNs: time })).default([]),
    /** That a rank swaps a submission with the one before. */
    disorderProbability: z.number().min(0).max(1).default(0),
    /** That a rank synchronizes its device after a submission. */
    synchronizationProbability: z.number().min(0).max(1).default(0),
  })
  .superRefine(({ late, ranks, collectives }, context) => {
    const submissions = ranks * collectives.length;
    if (submissions > mostSubmissions) {
      const message = `has ${submissions} submissions, ${collectives.length} of each of ${ranks} ranks; at most ${mostSubmissions} are allowed`;
      context.addIssue({ code: "custom", path: [], message });
    }
    late.forEach(({ rank }, i) => {
      if (rank >= ranks) context.addIssue({ code: "custom", path: ["late", i, "rank"], message: `must be a rank from 0 to ${ranks - 1}` });
    });
  });

export type ScheduleWorkload = z.infer<typeof schema>;

/**
 * Checks a workload, parsed from JSON.
 * @throws {SimulationConfigError} naming every key that is wrong, its value and what is allowed.
 */
export function parseScheduleWorkload(value: unknown, source = "given"): ScheduleWorkload {
  return parseWith(schema, value, source);
}

/**
 * Every rank takes part in every collective of a workload.
 * @throws {SimulationConfigError} where the workload isn't one, or has more than 5 million submissions of all ranks together.
 */
export function scenarioOf(given: ScheduleWorkload, seed: number): ScheduleScenario {
  const workload = parseScheduleWorkload(given);
  checkInteger("seed", seed, 0, 2 ** 32 - 1);
  const everyone = Array.from({ length: workload.ranks }, (_, rank) => rank);
  const lateBy = new Map(workload.late.map(({ rank, byNs }) => [rank, byNs]));
  const random = new RandomStream();
  return {
    topology: workload.topology,
    costs: gpuCosts,
    policy: workload.policy === "in-order" ? simulationPolicy("in-order", { streams: 1 }) : simulationPolicy(workload.policy),
    collectives: workload.collectives.map(({ bytes, priority }) => ({ bytes, priority, ranks: everyone })),
    hosts: everyone.map((rank) => {
      random.seed(seed, rank, 0);
      const order = workload.collectives.map((_, i) => i);
      for (let i = 1; i < order.length; i += 1) {
        const [a = 0, b = 0] = [order[i - 1], order[i]];
        if (random.uniform() <= workload.disorderProbability) [order[i - 1], order[i]] = [b, a];
      }
      return order.flatMap((collective, i): HostAction[] => {
        const atNs = (workload.collectives[i]?.atNs ?? 0) + (lateBy.get(rank) ?? 0);
        return random.uniform() <= workload.synchronizationProbability ? [{ atNs, collective }, { atNs }] : [{ atNs, collective }];
      });
    }),
  };
}
