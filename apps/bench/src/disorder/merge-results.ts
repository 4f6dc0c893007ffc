import { type Backend, DeviceBuffer, type JoinedRank } from "@dfccl/core";
import type { DisorderResult } from "./run-disorder.js";

// What is added up over all ranks, what is averaged, and of what the largest counts.
const sums = ["expected", "completed", "wrong", "synchronizations", "preemptions", "quits"] as const;
const means = ["preemptionsPerBlock", "meanQueueLength", "latencyP50Ms"] as const;
const most = ["maxQueueLength", "latencyP99Ms", "seconds"] as const;

/** No rank has this id for anything else. */
const resultsId = 0xffff_0001;

/** One result of all processes' results, on every rank. Every rank calls it. */
export async function mergeResults(rank: JoinedRank<Backend>, result: DisorderResult): Promise<DisorderResult> {
  const fields = [...sums, ...means, ...most];
  using gather = rank.register({ id: resultsId, collective: "all-gather", dataType: "float64", count: fields.length });
  const values = Float64Array.from(fields, (field) => result[field]);
  const own = rank.allocate("float64", fields.length);
  const gathered = rank.allocate("float64", fields.length * rank.size);
  if (own instanceof DeviceBuffer) await own.copyFrom(values);
  else own.set(values);
  await gather.run(own, gathered);
  const all = gathered instanceof DeviceBuffer ? await gathered.read() : gathered;
  const column = (field: (typeof fields)[number]): number[] =>
    Array.from({ length: rank.size }, (_, r) => all[r * fields.length + fields.indexOf(field)] ?? 0);
  const added = (field: (typeof fields)[number]): number => column(field).reduce((sum, value) => sum + value, 0);
  const merged: DisorderResult = {
    ...result,
    ...Object.fromEntries(sums.map((field) => [field, added(field)])),
    ...Object.fromEntries(means.map((field) => [field, added(field) / rank.size])),
    ...Object.fromEntries(most.map((field) => [field, Math.max(...column(field))])),
  };
  const slower = merged.seconds > 0 ? result.seconds / merged.seconds : 1;
  return { ...merged, busBandwidthGBs: result.busBandwidthGBs * slower };
}
