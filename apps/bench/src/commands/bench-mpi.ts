import { userInfo } from "node:os";
import { type Command, Option } from "commander";
import { type Case, type ComparisonRow, commandsOf, compare, type OpenMpi, type Sides } from "../peers/measure-peers.js";
import { describeMode, describeRows, mpiMarkdown, mpiVerdict } from "../peers/mpi-report.js";
import { buildNativePrograms, repositoryRoot, requireOpenMpi } from "../peers/native-programs.js";
import { busyWarning, describeHeader, type MachineFacts, machineFacts, type ReportHeader, reportHeader } from "../peers/report-header.js";
import { type MeasurementTools, runMeasurement } from "../peers/run-measurement.js";
import { runProgram } from "../peers/run-program.js";
import { writeReports } from "../peers/write-reports.js";
import { out } from "../terminal/colors.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { withNote } from "../terminal/note.js";
import { withProgress } from "../terminal/progress.js";
import { formatBytes, formatCountOf } from "../terminal/table.js";
import { wrap } from "../terminal/wrap.js";
import { resnet50 } from "../workloads/resnet50.js";
import { elementsOf } from "../workloads/workload.js";
import { byteSize, listOf, outputFile, outputFileOrDash, wholeNumber } from "./options.js";

interface MpiFlags {
  readonly quick?: boolean;
  readonly ranks?: readonly number[];
  readonly bytes?: readonly number[];
  readonly repetitions?: number;
  readonly mode: string;
  readonly json?: string;
  readonly markdown?: string;
}

const allSizes = [8, 64, 512, 4096, 32_768, 262_144, 2 ** 20, 2 ** 22, 2 ** 24, 2 ** 26];
const quickSizes = [8, 4096, 262_144, 2 ** 22];

export function addBenchMpiCommand(bench: Command): void {
  bench
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
  $ dfccl bench mpi --quick
  $ dfccl bench mpi --json mpi.json --markdown docs/benchmarks/mpi.md
  $ dfccl bench mpi -r 4 -b 8,1M -n 9

${exitCodesText({ 0: "measured", 1: "failed, or a result was wrong", 2: "usage" }, "what was measured until then is printed, no file is written")}`,
    )
    .action(async (flags: MpiFlags) => {
      process.exitCode = await benchMpi(flags);
    });
}

async function benchMpi(flags: MpiFlags): Promise<number> {
  const root = repositoryRoot();
  const rows: ComparisonRow[] = [];
  const measure = async ({ signal, say }: MeasurementTools): Promise<void> => {
    const machine = machineFacts();
    const programs = await withNote("Building the native benchmarks", () => buildNativePrograms(root, signal));
    const openmpi = requireOpenMpi(programs);
    const repetitions = flags.repetitions ?? (flags.quick ? 1 : 5);
    const header = { ...(await probeMachine(root, machine, programs, openmpi, signal)), mode: flags.mode, repetitions };
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

async function probeMachine(
  root: string,
  machine: MachineFacts,
  programs: string,
  { mpirun }: OpenMpi,
  signal: AbortSignal,
): Promise<ReportHeader> {
  const probe = await runProgram({ command: `${programs}/allreduce_bench`, args: ["--bytes", "8", "--budget", "0.01"], signal });
  const version = /\d+\.\d+\.\d+/.exec(await runProgram({ command: mpirun, args: ["--version"], signal }))?.[0];
  return reportHeader(root, machine, probe, { openmpi: version });
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
