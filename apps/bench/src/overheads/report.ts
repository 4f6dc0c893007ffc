import { markdownTable } from "../peers/markdown.js";
import type { ReportHeader } from "../peers/report-header.js";
import { reportPage } from "../peers/report-page.js";
import { formatBytes, formatCount, formatCountOf, formatTable } from "../terminal/table.js";
import { wrap } from "../terminal/wrap.js";
import type { RateRow } from "./javascript-rates.js";
import type { NativeOverheads } from "./read-overheads.js";

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

export function describeOverheads(report: OverheadsReport): string {
  return sectionsOf(report)
    .map(({ title, note, columns, rows }) => `${title}\n${formatTable(rows, columns)}${note ? `\n${wrap(note, undefined, 2)}` : ""}`)
    .join("\n\n");
}

export function overheadsMarkdown(report: OverheadsReport): string {
  const { header } = report;
  const sections = sectionsOf(report).map(
    ({ title, note, columns, rows }) => `## ${title}\n\n${markdownTable(columns, rows)}${note ? `\n\n${note}` : ""}\n`,
  );
  const how = `medians of ${formatCountOf(header.repetitions, "run")}; "best" is the fastest batch of all, for machines that never rest`;
  return reportPage("What submission, scheduling and completion add", header, [how], sections.join("\n"));
}
