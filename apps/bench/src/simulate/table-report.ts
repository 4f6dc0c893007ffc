import type { ReplayTallies, TableRow } from "@dfccl/simulator";
import type { ReportTable } from "../charts/html-report.js";
import { formatTable } from "../terminal/table.js";
import { wrap } from "../terminal/wrap.js";
import { formatInterval, formatRatio } from "./deadlock-report.js";

const header = [
  "",
  "collectives",
  "p",
  "s",
  "paper",
  "authors",
  "cycle, r.-robin",
  "95% interval",
  "cycle, concat.",
  "shortcut",
  "preempted",
  "whole",
  "calm",
];

export const tableNotes =
  "p, s: disorder and synchronization probability. cycle: rounds whose dependency graph has a cycle, with lists that take turns " +
  "between groups (with the 95% interval) or go group by group; ± is half the spread over draws of unpublished groups. " +
  "shortcut: what the public code's intersection test reports, which counts chains that resolve. authors: counts that they " +
  "committed. preempted: what leads to the deadlocks, run again on daemons: completed of replayed, with preemption and quit, " +
  "without preemption, without quit. whole: the same with everything that the GPUs of a component do in a round that deadlocks; " +
  "calm: in one that doesn't.";

export function tableOf(rows: readonly TableRow[]): ReportTable {
  return { header, rows: rows.map(cells) };
}

/** The paper's table beside ours. */
export function describeTable(rows: readonly TableRow[]): string {
  return [formatTable(rows.map(cells), header), "", wrap(tableNotes, 98)].join("\n");
}

function cells(row: TableRow): string[] {
  const { "round-robin": turns, concatenated } = row.cycle;
  const spread = turns.spread ? ` ± ${formatRatio((turns.spread[1] - turns.spread[0]) / 2)}` : "";
  return [
    `${row.name}${row.partial ? " (partial)" : ""}`,
    row.collectives,
    formatProbability(row.disorderProbability),
    row.model === "single-queue" ? "–" : formatProbability(row.synchronizationProbability),
    row.paper === null ? "–" : formatRatio(row.paper),
    row.authors === null ? "–" : formatRatio(row.authors.deadlocks / row.authors.rounds),
    `${formatRatio(turns.ratio)}${spread}`,
    formatInterval(turns.interval),
    formatRatio(concatenated.ratio),
    row.shortcut === null ? "–" : formatRatio(row.shortcut.ratio),
    finished(row.replays),
    finished(row.whole.deadlocked),
    finished(row.whole.calm),
  ];
}

/** "40/40 0/40 0/40": completed of replayed, with both, without preemption, without quit. */
function finished(tallies: ReplayTallies): string {
  const { "preemption and quit": both, "preemption off": noPreemption, "quit off": noQuit } = tallies;
  return [both, noPreemption, noQuit].map((tally) => (tally.replayed === 0 ? "–" : `${tally.finished}/${tally.replayed}`)).join(" ");
}

function formatProbability(value: number): string {
  return value.toExponential().replace("+", "");
}
