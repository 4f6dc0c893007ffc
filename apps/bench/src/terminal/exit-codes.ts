import { constants } from "node:os";
import { wrap } from "./wrap.js";

const { SIGHUP, SIGINT, SIGTERM, SIGPIPE } = constants.signals;

/** As shells report a signal: 128 and its number. */
export const exitCodesOfInterruption: readonly number[] = [SIGHUP, SIGINT, SIGTERM].map((signal) => 128 + signal);

/** Whoever reads the output has gone. */
export const exitCodeOfBrokenPipe = 128 + SIGPIPE;

/** Every way in which a command ends. Of `perf` and its like, those from 2 on are nccl-tests' own. */
export const exitTable: Readonly<Record<number, string>> = {
  0: "done, and all is as it should be",
  1: "failed, or something is not as it should be",
  2: "usage: of what was typed, or of a file that was named; of perf: CUDA failed",
  3: "of compare: nothing could be judged; of perf: NCCL failed",
  4: "of perf: a wait took longer than --timeout",
  5: "of perf: a backend is not there, or does not do what was asked of it",
  6: "of perf: invalid usage",
  7: "of perf: a result was wrong, or too slow",
  [128 + SIGHUP]: "ended by SIGHUP: its terminal was closed",
  [128 + SIGINT]: "ended by SIGINT: Ctrl-C",
  [exitCodeOfBrokenPipe]: "whoever reads the output has gone, as of | head",
  [128 + SIGTERM]: "ended by SIGTERM",
  255: "of perf: bad arguments",
};

/**
 * A command's own, for its help.
 * @param interrupted - what else is to be said of a command that was interrupted.
 */
export function exitCodesText(own: Readonly<Record<number, string>>, interrupted?: string): string {
  const ends: readonly (readonly [string, string])[] = [
    ...Object.entries(own),
    [exitCodesOfInterruption.join(", "), `interrupted${interrupted === undefined ? "" : `; ${interrupted}`}`],
  ];
  // The numbers in their order, which puts 255 behind the signals'.
  return `Exit codes:\n${linesOf([...ends].sort(([a], [b]) => Number.parseInt(a, 10) - Number.parseInt(b, 10)))}`;
}

/** The whole table, as dfccl --help shows it. */
export function exitTableText(): string {
  return `Exit codes (a command's --help tells its own):\n${linesOf(Object.entries(exitTable))}`;
}

const helpWidth = 80;

function linesOf(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([codes]) => codes.length));
  return rows
    .map(([codes, meaning]) => {
      const [first = "", ...more] = wrap(meaning, helpWidth - width - 4).split("\n");
      const hanging = " ".repeat(width + 4);
      return [`  ${codes.padEnd(width)}  ${first}`, ...more.map((line) => hanging + line)].join("\n");
    })
    .join("\n");
}
