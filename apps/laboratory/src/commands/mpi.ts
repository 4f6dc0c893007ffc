import { userInfo } from "node:os";
import { type Command, Option } from "commander";
import {
  buildNativeTarget,
  busyWarning,
  byteSize,
  describeHeader,
  elementsOf,
  exitCodesText,
  formatBytes,
  formatCountOf,
  listOf,
  type MachineFacts,
  type MeasurementTools,
  machineFacts,
  out,
  outputFile,
  outputFileOrDash,
  type ReportFlags,
  type ReportHeader,
  resnet50,
  runMeasurement,
  runProgram,
  wholeNumber,
  withNote,
  withProgress,
  wrap,
  writeReports,
} from "dfccl/internal/measurement";
import { clone } from "../clone.js";
import { type Case, type ComparisonRow, commandsOf, compare, type Sides } from "../openmpi/compare.js";
import { describeMode, describeRows, mpiMarkdown, mpiVerdict } from "../openmpi/report.js";
import { type OpenMpi, requireOpenMpi } from "../openmpi/require-openmpi.js";
import { headerOf } from "../report-header.js";

interface MpiFlags extends ReportFlags {
  readonly quick?: boolean;
  readonly ranks?: readonly number[];
  readonly bytes?: readonly number[];
  readonly repetitions?: number;
  readonly mode: string;
}

const allSizes = [8, 64, 512, 4096, 32_768, 262_144, 2 ** 20, 2 ** 22, 2 ** 24, 2 ** 26];
const quickSizes = [8, 4096, 262_144, 2 ** 22];

export function addMpiCommand(laboratory: Command): void {
  laboratory
    .command("mpi")
    .summary("all-reduce beside OpenMPI's, from 8 B to 64 MB, and ResNet-50's tensors")
    .description(
      "Measures float32 all-reduces beside OpenMPI's on this machine, the whole way from submission through queue, daemon and " +
        "completion, and ResNet-50's tensors in random orders beside OpenMPI's in one order. Ours and OpenMPI's take turns, so " +
        "that what the machine does to one side it does to the other. Keep it quiet meanwhile.",
    )
    .option("-q, --quick", "four sizes, one run a side")
    .option("-r, --ranks <list>", "numbers of ranks (default: 2,8)", listOf(wholeNumber(2, 64)))
    .option("-b, --bytes <list>", "sizes instead of the usual ones: 8,4K,64M", listOf(byteSize))
    .option("-n, --repetitions <n>", "runs a side (default: 5, with --quick 1)", wholeNumber(1, 1000))
    .addOption(new Option("--mode <mode>", "who steps our ranks").choices(["caller", "threads", "workers", "processes"]).default("caller"))
    .option("--json <file>", "write header and rows; - for standard output, instead of text", outputFileOrDash)
    .option("--markdown <file>", "write the page for docs/benchmarks", outputFile)
    .addHelpText(
      "after",
      `
Modes:
  caller   ${describeMode("caller").replace(", beside", ",\n           beside")}
  threads  ${describeMode("threads").replace(", waits", ",\n           waits")}
  workers  ${describeMode("workers")}
  processes
           ${describeMode("processes").replace(" submits, waits", "\n           submits, waits")}

Examples:
  $ npm run bench:mpi -- --quick
  $ npm run bench:mpi -- --json mpi.json --markdown docs/benchmarks/mpi.md
  $ npm run bench:mpi -- -r 4 -b 8,1M -n 9

${exitCodesText({ 0: "measured", 1: "failed, or a result was wrong", 2: "usage" }, "what was measured until then is printed, no file is written")}`,
    )
    .action(async (flags: MpiFlags) => {
      process.exitCode = await measureMpi(flags);
    });
}

async function measureMpi(flags: MpiFlags): Promise<number> {
  const rows: ComparisonRow[] = [];
  const measure = async ({ signal, say }: MeasurementTools): Promise<void> => {
    const machine = machineFacts();
    const programs = await withNote("Building the native benchmarks", () => buildNativeTarget(clone, "bench", signal));
    const openmpi = requireOpenMpi(programs);
    const repetitions = flags.repetitions ?? (flags.quick ? 1 : 5);
    const header = { ...(await probeMachine(machine, programs, openmpi, signal)), mode: flags.mode, repetitions };
    const warning = busyWarning(machine);
    if (warning) say(`${out.yellow(wrap(warning))}\n`);
    say(`${describeHeader(header).join("\n")}\n${wrap(`mode "${flags.mode}": ${describeMode(flags.mode)}`)}\n`);
    const commands = commandsOf(programs, openmpi, {
      mode: flags.mode,
      budgetSeconds: flags.quick ? 0.1 : 0.3,
      iterations: flags.quick ? 3 : 10,
      isRoot: userInfo().uid === 0,
    });
    await measureAll(casesOf(flags), repetitions, rows, {
      ours: (one) => runProgram({ ...commands.ours(one), signal }),
      openmpi: (one) => runProgram({ ...commands.openmpi(one), signal }),
    });
    say(`${describeRows(rows)}\n\n${out.green(wrap(mpiVerdict(rows)))}`);
    writeReports(flags, { header, rows }, mpiMarkdown);
  };
  return runMeasurement(flags, measure, () => (rows.length > 0 ? describeRows(rows) : undefined));
}

async function probeMachine(machine: MachineFacts, programs: string, { mpirun }: OpenMpi, signal: AbortSignal): Promise<ReportHeader> {
  const probe = await runProgram({ command: `${programs}/allreduce_bench`, args: ["--bytes", "8", "--budget", "0.01"], signal });
  const version = /\d+\.\d+\.\d+/.exec(await runProgram({ command: mpirun, args: ["--version"], signal }))?.[0];
  return headerOf(machine, probe, { openmpi: version });
}

function casesOf({ ranks = [2, 8], bytes, quick }: MpiFlags): Case[] {
  const sizes = bytes ?? (quick ? quickSizes : allSizes);
  const list = { bytes: 4 * elementsOf(resnet50()), tensors: "resnet50" };
  return ranks.flatMap((count) => [...sizes.map((size) => ({ ranks: count, bytes: size })), ...(bytes ? [] : [{ ranks: count, ...list }])]);
}

async function measureAll(cases: readonly Case[], repetitions: number, rows: ComparisonRow[], sides: Sides): Promise<void> {
  let runs = 0;
  await withProgress("Measuring", 2 * repetitions * cases.length, async (progress) => {
    for (const one of cases) {
      const note = `${one.tensors ? "ResNet-50" : formatBytes(one.bytes)} on ${formatCountOf(one.ranks, "rank")}`;
      progress.update(runs, note);
      const row = await compare(one, repetitions, sides, () => {
        runs += 1;
        progress.update(runs, note);
      });
      rows.push(row);
    }
  });
}
