import type { WorldStatus } from "@dfccl/core";
import { ranksOfJobs } from "./ranks-of-jobs.js";

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "gauge" | "counter";
  readonly samples: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
}

/** Worlds in Prometheus' text format, version 0.0.4, which takes no two samples with the same labels. */
export function metricsOf(worlds: readonly WorldStatus[]): string {
  const ranks = ranksOfJobs(worlds);
  const bytes = new Map<string, number>();
  for (const { job, memoryBytes } of worlds) bytes.set(job, (bytes.get(job) ?? 0) + memoryBytes);
  const ofRanks = (value: (world: WorldStatus, rank: number) => number): Metric["samples"] =>
    ranks.map(({ world, rank }) => ({ labels: { job_name: world.job, rank: String(rank) }, value: value(world, rank) }));
  const membersOf = ({ collectives }: WorldStatus, rank: number): { submitted: number; finished: number; waitingMs: number }[] =>
    collectives.flatMap(({ members }) => members.filter((member) => member.rank === rank));
  const metrics: Metric[] = [
    {
      name: "dfccl_rank_up",
      help: "1 while the rank's process is in the world and gives signs of life.",
      type: "gauge",
      samples: ofRanks((world, rank) => (world.ranks[rank]?.presence === "joined" ? 1 : 0)),
    },
    {
      name: "dfccl_runs_finished_total",
      help: "Runs that the rank has finished, of what is registered now.",
      type: "counter",
      samples: ofRanks((world, rank) => membersOf(world, rank).reduce((sum, { finished }) => sum + finished, 0)),
    },
    {
      name: "dfccl_runs_in_flight",
      help: "Runs that the rank has begun and not finished.",
      type: "gauge",
      samples: ofRanks((world, rank) => membersOf(world, rank).reduce((sum, { submitted, finished }) => sum + submitted - finished, 0)),
    },
    {
      name: "dfccl_longest_wait_seconds",
      help: "How long the oldest of them has been under way.",
      type: "gauge",
      samples: ofRanks((world, rank) => Math.max(0, ...membersOf(world, rank).map(({ waitingMs }) => waitingMs)) / 1000),
    },
    {
      name: "dfccl_shared_memory_bytes",
      help: "Memory that the world's processes share, in use.",
      type: "gauge",
      samples: [...bytes].map(([job_name, value]) => ({ labels: { job_name }, value })),
    },
  ];
  return metrics.map(text).join("");
}

function text({ name, help, type, samples }: Metric): string {
  const lines = samples.map(({ labels, value }) => {
    const pairs = Object.entries(labels).map(([label, of]) => `${label}="${escaped(of)}"`);
    return `${name}{${pairs.join(",")}} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
