import type { Command } from "commander";
import { machineFacts } from "../peers/report-header.js";
import { type Contender, contendersOf } from "../programs/contenders.js";
import { loadProgram } from "../programs/load-program.js";
import { measureContenders } from "../programs/measure-contenders.js";
import { fastestOf, type SizeResult } from "../programs/program-table.js";
import { startProgress } from "../terminal/progress.js";
import { formatBytes, formatSeconds, formatTable } from "../terminal/table.js";
import { byteSize, listOf, wholeNumber } from "./options.js";

export interface CompareFlags {
  readonly bytes?: readonly number[];
  readonly rounds: number;
  readonly quick?: boolean;
}

const sizes = [2 ** 10, 2 ** 12, 2 ** 14, 2 ** 16, 2 ** 18, 2 ** 20, 2 ** 22];
const quickSizes = [2 ** 10, 2 ** 16, 2 ** 20];

/** Options of the commands that compare programs with each other and with the built-in ones. */
export function addCompareOptions(command: Command): Command {
  return command
    .argument("<files...>", "programs for one collective on the same ranks: .ts, .js, .mjs or .xml")
    .option("-b, --bytes <list>", "sizes of a rank's larger buffer instead of the usual ones: 1K,64K,4M", listOf(byteSize))
    .option("-n, --rounds <n>", "turns of each", wholeNumber(1, 10_000), 15)
    .option("-q, --quick", "three sizes, three turns");
}

export async function comparePrograms(
  files: readonly string[],
  flags: CompareFlags,
  signal: AbortSignal,
): Promise<{ contenders: Contender[]; results: SizeResult[]; machine: ReturnType<typeof machineFacts> }> {
  const machine = machineFacts();
  const contenders = contendersOf(await Promise.all(files.map((file) => loadProgram(file))));
  const wanted = (flags.bytes ?? (flags.quick ? quickSizes : sizes)).toSorted((a, b) => a - b);
  const rounds = flags.quick ? 3 : flags.rounds;
  const progress = startProgress("Measuring", wanted.length * rounds);
  const results: SizeResult[] = [];
  let done = 0;
  try {
    for (const bytes of wanted) {
      const onRound = (): void => progress.update(++done, formatBytes(bytes));
      const able = contenders.filter(({ largestBytes }) => bytes <= largestBytes);
      results.push({ bytes, measured: await measureContenders(able, { bytes, rounds, signal, onRound }) });
    }
  } finally {
    progress.stop();
  }
  return { contenders, results, machine };
}

/** Rows are programs, columns sizes; the fastest of each size has a mark. */
export function describeComparison(results: readonly SizeResult[]): string {
  const names = results[0]?.measured.map(({ name }) => name) ?? [];
  const rows = names.map((name) => [
    name,
    ...results.map(({ measured }) => {
      const one = measured.find((candidate) => candidate.name === name);
      return one === undefined ? "–  " : `${formatSeconds(one.seconds)}${fastestOf(measured) === name ? " *" : "  "}`;
    }),
  ]);
  return formatTable(rows, ["", ...results.map(({ bytes }) => `${formatBytes(bytes)}  `)]);
}
