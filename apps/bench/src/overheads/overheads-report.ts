import type { ReportHeader } from "../peers/report-header.js";
import { formatBytes, formatCount } from "../terminal/table.js";

/** One thing that a run passes through, in nanoseconds for each run. */
export interface PartRow {
  readonly part: string;
  /** Median over the repetitions. */
  readonly ns: number;
  /** Of the best batch. */
  readonly bestNs: number;
}

/** An all-reduce with everything around it, and the same program in a bare loop, in turns. */
export interface WholeRow {
  readonly ranks: number;
  readonly bytes: number;
  readonly wholeUs: number;
  readonly bareUs: number;
  readonly addedNsPerRank: number;
  readonly ratio: number;
}

export interface RegisteredMemory {
  readonly registered: number;
  readonly ranks: number;
  readonly bytesPerRankAndCollective: number;
  readonly residentBytesPerRankAndCollective: number;
  readonly arenaBytes: number;
}

export interface NativeOverheads {
  readonly parts: readonly PartRow[];
  readonly whole: readonly WholeRow[];
  readonly noopRunsPerSecond: number;
  readonly memory: RegisteredMemory;
}

/** A line of packages/core/bench: how many a second, in millions. */
export interface RateRow {
  readonly what: string;
  readonly median: number;
  readonly best: number;
}

/** What `npm run bench:overheads -- --json FILE` writes, and `dfccl report` reads. */
export interface OverheadsReport extends NativeOverheads {
  readonly header: ReportHeader & { readonly repetitions: number };
  readonly javascript: readonly RateRow[];
}

interface Section {
  readonly title: string;
  readonly note?: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

// In the order in which a run passes through them. What saves a context is the difference of two measurements.
const steps: readonly (readonly [part: string, title: string])[] = [
  ["sqeWrite", "write an SQE"],
  ["sqeWriteInBatch", "write an SQE of a batch"],
  ["submit", "submit: check, claim a slot, write the SQE"],
  ["sqeRead", "read an SQE"],
  ["feedPublish", "pass it on to the blocks"],
  ["feedTakeByTwoBlocks", "take it in, two blocks"],
  ["takeIn", "read, parse, enqueue"],
  ["contextLoad", "load a context"],
  ["stepStuck", "poll what can't go on"],
  ["cqeWrite:owned", "write a CQE"],
  ["cqePoll:owned", "poll a CQE"],
  ["noopOfMany", "all of it for a run that does nothing, one of 256"],
  ["noopAlone", "all of it for a run that does nothing, alone"],
];
const completionQueues = ["owned", "cas", "packed", "vanilla"];

export function sectionsOf({ parts, whole, javascript, memory, noopRunsPerSecond }: OverheadsReport): Section[] {
  const nsOf = (part: string): number => parts.find((row) => row.part === part)?.ns ?? Number.NaN;
  const bestOf = (part: string): number => parts.find((row) => row.part === part)?.bestNs ?? Number.NaN;
  const breakdown = steps.map(([part, title]) => [title, formatNs(nsOf(part)), formatNs(bestOf(part))]);
  const loadAt = steps.findIndex(([part]) => part === "contextLoad") + 1;
  const save = (of: (part: string) => number): string => formatNs(Math.max(0, of("contextLoadAndSave") - of("contextLoad")));
  breakdown.splice(loadAt, 0, ["save a context that changed", save(nsOf), save(bestOf)]);
  return [
    {
      title: "What a run passes through",
      note: `${formatRate(noopRunsPerSecond)} runs a second that do nothing, from one native thread.`,
      columns: ["part", "ns", "best"],
      rows: breakdown,
    },
    {
      title: "Completion queues",
      columns: ["queue", "write, ns", "poll, ns"],
      rows: completionQueues.map((queue) => [queue, formatNs(nsOf(`cqeWrite:${queue}`)), formatNs(nsOf(`cqePoll:${queue}`))]),
    },
    {
      title: "All-reduce: the engine, and the same program in a bare loop",
      columns: ["bytes", "ranks", "engine, µs", "bare, µs", "added a rank, ns", "ratio"],
      rows: whole.map(({ bytes, ranks, wholeUs, bareUs, addedNsPerRank, ratio }) => [
        formatBytes(bytes),
        String(ranks),
        wholeUs.toPrecision(3),
        bareUs.toPrecision(3),
        formatCount(addedNsPerRank),
        ratio.toFixed(2),
      ]),
    },
    {
      title: "From JavaScript, millions a second",
      columns: ["what", "median", "best"],
      rows: javascript.map(({ what, median, best }) => [what, median.toPrecision(3), best.toPrecision(3)]),
    },
    {
      title: "Memory of registered collectives",
      columns: ["collectives", "ranks", "a rank and collective", "resident", "connectors"],
      rows: [
        [
          formatCount(memory.registered),
          String(memory.ranks),
          formatBytes(Math.round(memory.bytesPerRankAndCollective)),
          formatBytes(Math.round(memory.residentBytesPerRankAndCollective)),
          formatBytes(memory.arenaBytes),
        ],
      ],
    },
  ];
}

function formatNs(ns: number): string {
  return ns < 100 ? ns.toFixed(1) : formatCount(ns);
}

function formatRate(perSecond: number): string {
  return `${(perSecond / 1e6).toPrecision(3)} million`;
}
