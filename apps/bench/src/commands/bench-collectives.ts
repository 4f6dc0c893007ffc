import { collectiveNames, isPowerOfTwo } from "@dfccl/collective-tests";
import type { Command } from "commander";
import { type CollectiveRow, measureCollective, optionsFor } from "../collectives/measure.js";
import { collectivesMarkdown, collectivesVerdict, describeCollectives } from "../collectives/report.js";
import { repositoryRoot } from "../peers/native-programs.js";
import { busyWarning, describeHeader, machineFacts, reportHeader } from "../peers/report-header.js";
import { type MeasurementTools, runMeasurement } from "../peers/run-measurement.js";
import { runProgram } from "../peers/run-program.js";
import { type ReportFlags, writeReports } from "../peers/write-reports.js";
import { perfBackends } from "../perf/backends.js";
import { nativePrograms } from "../perf/find-programs.js";
import { out } from "../terminal/colors.js";
import { withProgress } from "../terminal/progress.js";
import { wrap } from "../terminal/wrap.js";
import { listOf, outputFile, outputFileOrDash, sizesOption, wholeNumber } from "./options.js";

interface CollectivesFlags extends ReportFlags {
  readonly quick?: boolean;
  readonly ranks: readonly number[];
  readonly bytes: readonly number[];
  readonly repetitions?: number;
}

export function addBenchCollectivesCommand(bench: Command): void {
  bench
    .command("collectives")
    .summary("every collective beside OpenMPI's, from 8 B to 64 MB")
    .description(
      "Measures the eleven programs of the collective tests beside OpenMPI on this machine, float32 and out of place, by turns. " +
        "Keep the machine quiet meanwhile.",
    )
    .option("-q, --quick", "one short run a side")
    .option("-r, --ranks <list>", "numbers of ranks", listOf(wholeNumber(2, 64)), [2])
    .addOption(sizesOption("sizes", "8,512,4K,32K,256K,2M,16M,64M"))
    .option("-n, --repetitions <n>", "runs a side (default: 3, with --quick 1)", wholeNumber(1, 1000))
    .option("--json <file>", "write header and rows; - for standard output, instead of text", outputFileOrDash)
    .option("--markdown <file>", "write the page for docs/benchmarks", outputFile)
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl bench collectives --quick
  $ dfccl bench collectives --markdown docs/benchmarks/collectives.md

Exit codes:
  0    measured
  1    failed, or a result was wrong
  2    usage
  130  interrupted; what was measured until then is printed, no file is written`,
    )
    .action(async (flags: CollectivesFlags) => {
      process.exitCode = await benchCollectives(flags);
    });
}

async function benchCollectives(flags: CollectivesFlags): Promise<number> {
  const root = repositoryRoot();
  const rows: CollectiveRow[] = [];
  const repetitions = flags.repetitions ?? (flags.quick ? 1 : 3);
  const machine = machineFacts();
  const measure = async ({ signal, say }: MeasurementTools): Promise<void> => {
    const probe = await runProgram({ command: `${await nativePrograms("perf", signal)}/perf_bench`, args: ["--probe", "yes"], signal });
    const warning = busyWarning(machine);
    if (warning) say(`${out.yellow(wrap(warning))}\n`);
    const version = await measureAll(flags, repetitions, rows, signal);
    const header = { ...reportHeader(root, machine, probe, version), repetitions };
    say(`${describeHeader(header).join("\n")}\n\n${describeCollectives(rows)}\n\n${wrap(collectivesVerdict(rows))}`);
    await writeReports(flags, { header, rows }, collectivesMarkdown);
  };
  return runMeasurement(flags, measure, () => (rows.length > 0 ? describeCollectives(rows) : undefined));
}

/** @returns OpenMPI's version. */
async function measureAll(flags: CollectivesFlags, repetitions: number, rows: CollectiveRow[], signal: AbortSignal): Promise<string> {
  const backends = perfBackends(nativePrograms);
  const open = (name: string, ranks: number) => {
    const backend = backends.find((candidate) => candidate.name === name);
    if (backend === undefined) throw new Error(`There is no backend ${name}.`);
    return backend.open(optionsFor(ranks), signal);
  };
  const plans = flags.ranks.flatMap((ranks) =>
    collectiveNames.filter((name) => name !== "hypercube" || isPowerOfTwo(ranks)).map((collective) => ({ ranks, collective })),
  );
  let version = "";
  await withProgress("Measuring", plans.length, async (progress) => {
    for (const [i, { ranks, collective }] of plans.entries()) {
      progress.update(i, `${collective} on ${ranks} ranks`);
      const sides = { ours: await open("cpu", ranks), openmpi: await open("mpi", ranks) };
      version = sides.openmpi.version;
      rows.push(...(await measureCollective(collective, ranks, flags.bytes, repetitions, flags.quick ? 10 : 1, sides, signal)));
    }
  });
  return version;
}
