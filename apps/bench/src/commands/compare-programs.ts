import type { Command } from "commander";
import { machineFacts, type PeerFacts } from "../peers/report-header.js";
import { compareNatively } from "../programs/compare-natively.js";
import { builtInsBeside, type Contender, contendersOf } from "../programs/contenders.js";
import { type LoadedProgram, loadProgram } from "../programs/load-program.js";
import { measureContenders } from "../programs/measure-contenders.js";
import { fastestOf, type SizeResult } from "../programs/program-table.js";
import { withProgress } from "../terminal/progress.js";
import { formatBytes, formatSeconds, formatTable } from "../terminal/table.js";
import { byteSize, listOf, wholeNumber } from "./options.js";
import { addProgramChoices, instanceCount, type LoadFlags, programFile } from "./program-options.js";

export interface CompareFlags extends Omit<LoadFlags, "instances"> {
  readonly bytes?: readonly number[];
  readonly rounds: number;
  readonly quick?: boolean;
  readonly gpus?: boolean;
  readonly backToBack?: boolean;
  readonly slotBytes?: number;
  readonly instances?: readonly number[];
}

const places = {
  cpus: { sizes: "1K,4K,16K,64K,256K,1M,4M", quick: "1K,64K,1M" },
  gpus: { sizes: "8,512,4K,16K,64K,256K,1M,4M,16M,64M", quick: "8,64K,1M,64M" },
} as const;

/** Turns are so much shorter than of a whole table of collectives, because there are many of them. */
const haste = 4;

/** Options of the commands that compare programs with each other and with the built-in ones. */
export function addCompareOptions(command: Command): Command {
  const compared = command
    .argument("<programs...>", `for one collective on the same ranks, each ${programFile}`)
    .option(
      "-b, --bytes <list>",
      `sizes of a rank's larger buffer (default: ${places.cpus.sizes}; on GPUs ${places.gpus.sizes})`,
      listOf(byteSize),
    )
    .option("-n, --rounds <n>", "turns of each", wholeNumber(1, 10_000), 15)
    .option("-q, --quick", "a few sizes, three turns")
    .option("-g, --gpus", "on GPUs, beside what the engine chooses there and, where it is installed, NCCL")
    .option("--back-to-back", "on GPUs: wait for all operations of a turn together, not for each before the next")
    .option("--slot-bytes <n>", "on GPUs: most that a slot of a connection carries, instead of the engine's default", byteSize);
  compared.hook("preAction", () => {
    const { gpus, backToBack, slotBytes }: Partial<CompareFlags> = compared.opts();
    if (!gpus && backToBack) compared.error("--back-to-back is for --gpus.");
    if (!gpus && slotBytes !== undefined) compared.error("--slot-bytes is for --gpus.");
  });
  return addProgramChoices(compared, (option) =>
    option(
      "-i, --instances <list>",
      "copies of each program side by side, instead of what it says; several numbers: measure each",
      listOf(instanceCount),
    ),
  );
}

export interface Comparison {
  readonly contenders: Contender[];
  readonly results: SizeResult[];
  readonly machine: ReturnType<typeof machineFacts>;
  /** Of a comparison on GPUs. */
  readonly peers?: PeerFacts;
}

/** @param withPeer - beside another library, too, where that is possible. */
export async function comparePrograms(
  files: readonly string[],
  flags: CompareFlags,
  signal: AbortSignal,
  withPeer = true,
): Promise<Comparison> {
  const machine = machineFacts();
  const place = flags.gpus ? "gpus" : "cpus";
  const programs = contendersOf(await loadAll(files, flags), place);
  const { sizes, quick } = places[place];
  const wanted = (flags.bytes ?? listOf(byteSize)(flags.quick ? quick : sizes)).toSorted((a, b) => a - b);
  const rounds = flags.quick ? 3 : flags.rounds;
  return await withProgress("Measuring", wanted.length * rounds, async (progress) => {
    let done = 0;
    const onTurn = (bytes: number): void => progress.update(++done, formatBytes(bytes));
    if (flags.gpus) {
      const native = { engine: "cuda", peer: withPeer ? "nccl" : undefined } as const;
      const mode = flags.backToBack ? "back to back" : "one at a time";
      const options = { place: native, sizes: wanted, mode, rounds, slotBytes: flags.slotBytes, quicken: haste, signal, onTurn } as const;
      const { results, facts } = await compareNatively(programs, options);
      return { contenders: programs, results, machine, peers: facts };
    }
    const [first] = programs;
    const contenders = [...programs, ...(first ? builtInsBeside(first) : [])];
    const results: SizeResult[] = [];
    for (const bytes of wanted) {
      const able = contenders.filter(({ largestBytes }) => bytes <= largestBytes);
      results.push({ bytes, measured: await measureContenders(able, { bytes, rounds, signal, onRound: () => onTurn(bytes) }) });
    }
    return { contenders, results, machine };
  });
}

/** Every program, in every number of instances that is asked for. */
async function loadAll(files: readonly string[], { instances, ...choices }: CompareFlags): Promise<LoadedProgram[]> {
  if (instances === undefined) return await Promise.all(files.map((file) => loadProgram(file, choices)));
  const wanted = files.flatMap((file) => instances.map((count) => ({ file, count })));
  return await Promise.all(
    wanted.map(async ({ file, count }) => {
      const loaded = await loadProgram(file, { ...choices, instances: count });
      return { ...loaded, name: `${loaded.name} × ${count}` };
    }),
  );
}

/** Rows are programs, columns sizes; the fastest of each size has a mark. */
export function describeComparison(results: readonly SizeResult[]): string {
  const rows = namesOf(results).map((name) => [
    name,
    ...results.map(({ measured }) => {
      const one = measured.find((candidate) => candidate.name === name);
      return one === undefined ? "–  " : `${formatSeconds(one.seconds)}${fastestOf(measured) === name ? " *" : "  "}`;
    }),
  ]);
  return formatTable(rows, ["", ...results.map(({ bytes }) => `${formatBytes(bytes)}  `)]);
}

/** Of all that were measured at any size. */
export function namesOf(results: readonly SizeResult[]): string[] {
  return [...new Set(results.flatMap(({ measured }) => measured.map(({ name }) => name)))];
}
