import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OverheadsReport } from "../../src/overheads/overheads-report.js";

const header = {
  command: "npm run bench:overheads",
  date: "2026-01-02T03:04:05.000Z",
  commit: "abc1234",
  machine: { cpu: "Machine", cores: 2, memoryBytes: 2 ** 34, kernel: "Linux 6", node: "20.0.0", loadBefore: 0.1 },
  probe: { coreRoundTripNs: 90, copyGBs: 15 },
};
const counters = { preemptions: 40, quits: 2, visits: 100, stuckVisits: 5, queueLengthSum: 350, queueLengthMaximum: 8, memoryBytes: 1 };

/** Two backends, four sizes, in place missing on one of them. */
export const perfReport = {
  version: 3,
  start_time: "2026-01-02 03:04:05",
  args: ["all_reduce_perf", "-g", "4", "--backend", "cpu,mpi", "<script>alert(1)</script>"],
  env: [],
  nccl_version: 0,
  config: { iterations: 20, aggregated_iterations: 1 },
  results: [8, 4096, 262144, 2 ** 24].flatMap((size, i) =>
    (["cpu", "mpi"] as const).map((backend, b) => {
      const side = { time: (b + 1) * 2 * 10 ** i, alg_bw: 0.1 * 10 ** i, bus_bw: 0.15 * 10 ** i, nwrong: 0 };
      const row = { size, count: size / 4, type: "float", redop: "sum", root: "    -1", out_of_place: side };
      return { ...row, in_place: b === 0 ? side : null, actual_iterations: 20, experiment_name: "AllReduce", backend };
    }),
  ),
  out_of_bounds: { count: 0, okay: "true" },
  average_bus_bandwidth: { bandwidth: 1.5, okay: "unchecked" },
  errors: [],
  end_time: "2026-01-02 03:05:06",
  dfccl: {
    kind: "perf",
    program: "all_reduce",
    ranks: 4,
    backends: [
      { name: "cpu", version: "1.0.0" },
      { name: "mpi", version: "4.1.4" },
    ],
    order: "random",
    concurrent: 8,
    delay: { rank: 1, micros: 200 },
    machine: { ...header.machine, ...header.probe },
    counters: [0, 1, 2, 3].flatMap(() => [
      { out_of_place: counters, in_place: counters },
      { out_of_place: null, in_place: null },
    ]),
    refusals: ["it can't"],
  },
};

const stickiness = {
  kind: "stickiness",
  header,
  ranks: 4,
  collectives: 3,
  iterations: 10,
  lateRank: 2,
  runs: [0, 5].flatMap((lateMs) =>
    ["fixed", "adaptive"].map((policy, i) => ({
      policy,
      lateMs,
      iterationsPerSecond: 50 + 25 * i,
      preemptions: 100,
      quits: 3,
      meanQueueLength: 2,
      completions: [0, 1, 2].map((collective) => ({ collective, switches: collective + i, queueLength: 3 - collective })),
    })),
  ),
};

const parts = [
  ...["sqeWrite", "sqeWriteInBatch", "submit", "sqeRead", "feedPublish", "feedTakeByTwoBlocks", "takeIn", "stepStuck"],
  ...["contextLoad", "contextLoadAndSave", "noopOfMany", "noopAlone"],
  ...["owned", "cas", "packed", "vanilla"].flatMap((queue) => [`cqeWrite:${queue}`, `cqePoll:${queue}`]),
];
const overheads: OverheadsReport = {
  header: { ...header, repetitions: 1 },
  parts: parts.map((part) => ({ part, ns: 10, bestNs: 5 })),
  whole: [{ ranks: 2, bytes: 8, wholeUs: 10, bareUs: 1, addedNsPerRank: 4500, ratio: 10 }],
  noopRunsPerSecond: 1e8,
  memory: { registered: 1000, ranks: 8, bytesPerRankAndCollective: 583, residentBytesPerRankAndCollective: 1200, arenaBytes: 0 },
  javascript: [{ what: "submissions", median: 1, best: 2 }],
};

/** A file of each kind, in a folder. */
export function writeResultFiles(folder: string): { perf: string; overheads: string; stickiness: string } {
  const write = (name: string, value: unknown): string => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(value));
    return path;
  };
  return {
    perf: write("perf.json", perfReport),
    overheads: write("overheads.json", overheads),
    stickiness: write("stickiness.json", stickiness),
  };
}
