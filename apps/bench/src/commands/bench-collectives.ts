import { type BackendName, collectiveNames, isPowerOfTwo, type OpenBackend, openBackend, type PerfOptions } from "@dfccl/collective-tests";
import type { Command } from "commander";
import { type CollectiveRow, type Mode, measureCollective, modes, optionsFor, type RankSetting } from "../collectives/measure.js";
import { collectivesMarkdown, collectivesVerdict, describeCollectives, type PeerName } from "../collectives/report.js";
import { findRoot } from "../peers/native-programs.js";
import { busyWarning, describeHeader, machineFacts, type PeerFacts, reportHeader } from "../peers/report-header.js";
import { type MeasurementTools, runMeasurement } from "../peers/run-measurement.js";
import { runProgram } from "../peers/run-program.js";
import { type ReportFlags, writeReports } from "../peers/write-reports.js";
import { perfBackends } from "../perf/backends.js";
import { nativePrograms } from "../perf/find-programs.js";
import { describeGpus } from "../perf/gpu-backends.js";
import { out } from "../terminal/colors.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { withProgress } from "../terminal/progress.js";
import { wrap } from "../terminal/wrap.js";
import { byteSize, listOf, outputFile, outputFileOrDash, wholeNumber } from "./options.js";

interface CollectivesFlags extends ReportFlags {
  readonly quick?: boolean;
  readonly gpus?: boolean;
  readonly ranks: readonly number[];
  readonly bytes?: readonly number[];
  readonly repetitions?: number;
}

/** Where the ranks are: what is measured beside what, how long, and at which sizes. */
interface Place {
  readonly ours: BackendName;
  readonly peer: BackendName;
  readonly peerName: PeerName;
  readonly hasThreads: readonly boolean[];
  readonly modes: readonly Mode[];
  readonly haste: number;
  readonly sizes: string;
}

const places: Readonly<Record<"cpus" | "gpus", Place>> = {
  cpus: {
    ours: "cpu",
    peer: "mpi",
    peerName: "OpenMPI",
    hasThreads: [false],
    modes: ["one at a time"],
    haste: 1,
    sizes: "8,512,4K,32K,256K,2M,16M,64M",
  },
  gpus: {
    ours: "cuda",
    peer: "nccl",
    peerName: "NCCL",
    hasThreads: [false, true],
    modes,
    haste: 1 / 2,
    sizes: "8,512,4K,64K,256K,1M,4M,16M,64M,256M,1G",
  },
};

export function addBenchCollectivesCommand(bench: Command): void {
  bench
    .command("collectives")
    .summary("every collective beside OpenMPI's, or NCCL's on GPUs")
    .description(
      "Measures the eleven programs of the collective tests beside OpenMPI on this machine, float32 and out of place, by turns; " +
        "with --gpus on this machine's GPUs beside NCCL, one at a time and back to back. Keep the machine quiet meanwhile.",
    )
    .option("-g, --gpus", "on GPUs, beside NCCL")
    .option("-q, --quick", "one short run a side")
    .option("-r, --ranks <list>", "numbers of ranks", listOf(wholeNumber(2, 64)), [2])
    .option("-b, --bytes <list>", `sizes (default: ${places.cpus.sizes}; on GPUs ${places.gpus.sizes})`, listOf(byteSize))
    .option("-n, --repetitions <n>", "runs a side (default: 3, with --quick 1)", wholeNumber(1, 1000))
    .option("--json <file>", "write header and rows; - for standard output, instead of text", outputFileOrDash)
    .option("--markdown <file>", "write the page for docs/benchmarks", outputFile)
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl bench collectives --quick
  $ dfccl bench collectives --markdown docs/benchmarks/collectives.md
  $ dfccl bench collectives --gpus -r 4 -b 8,1M,1G

${exitCodesText({ 0: "measured", 1: "failed, or a result was wrong", 2: "usage" }, "what was measured until then is printed, no file is written")}`,
    )
    .action(async (flags: CollectivesFlags) => {
      process.exitCode = await benchCollectives(flags);
    });
}

async function benchCollectives(flags: CollectivesFlags): Promise<number> {
  const place = flags.gpus ? places.gpus : places.cpus;
  const rows: CollectiveRow[] = [];
  const repetitions = flags.repetitions ?? (flags.quick ? 1 : 3);
  const machine = machineFacts();
  const describe = (): string => describeCollectives(rows, place.peerName);
  const measure = async ({ signal, say }: MeasurementTools): Promise<void> => {
    // Before anything is built for nothing.
    if (flags.gpus) await nativePrograms("perf_gpu", signal);
    const probe = await runProgram({ command: `${await nativePrograms("perf", signal)}/perf_bench`, args: ["--probe", "yes"], signal });
    const warning = busyWarning(machine);
    if (warning) say(`${out.yellow(wrap(warning))}\n`);
    const { openmpi, nccl, gpus } = await measureAll(flags, place, repetitions, rows, signal);
    const header = { ...reportHeader(findRoot(), machine, probe, { openmpi, nccl, gpus }), repetitions, peer: place.peerName };
    const verdict = wrap(collectivesVerdict(rows, place.peerName));
    say(`${describeHeader(header).join("\n")}\n\n${describe()}\n\n${verdict}`);
    writeReports(flags, { header, rows }, collectivesMarkdown);
  };
  return runMeasurement(flags, measure, () => (rows.length > 0 ? describe() : undefined));
}

/** @returns what was measured beside, and on what. */
async function measureAll(
  flags: CollectivesFlags,
  place: Place,
  repetitions: number,
  rows: CollectiveRow[],
  signal: AbortSignal,
): Promise<PeerFacts> {
  const backends = perfBackends(nativePrograms);
  const open = (name: BackendName, options: PerfOptions): Promise<OpenBackend> => openBackend(backends, name, options, signal);
  const settings: RankSetting[] = place.modes.flatMap((mode) =>
    place.hasThreads.flatMap((hasThreads) => flags.ranks.map((ranks) => ({ mode, hasThreads, ranks }))),
  );
  // A hypercube needs a power of two; and of more than two ranks that one thread drives, NCCL would merge its steps.
  const hasHypercube = ({ ranks, hasThreads }: RankSetting): boolean =>
    isPowerOfTwo(ranks) && (place.peer !== "nccl" || hasThreads || ranks === 2);
  const namesOf = (setting: RankSetting) => collectiveNames.filter((name) => name !== "hypercube" || hasHypercube(setting));
  const total = settings.reduce((sum, setting) => sum + namesOf(setting).length, 0);
  const sizes = flags.bytes ?? listOf(byteSize)(place.sizes);
  const facts: { -readonly [name in keyof PeerFacts]: PeerFacts[name] } = {};
  let done = 0;
  await withProgress("Measuring", total, async (progress) => {
    for (const setting of settings) {
      const options = optionsFor(setting);
      const sides = { ours: await open(place.ours, options), peer: await open(place.peer, options) };
      if (place.peer === "mpi") facts.openmpi = sides.peer.version;
      else facts.nccl = sides.peer.version;
      if (place.ours === "cuda") facts.gpus = describeGpus(sides.ours);
      const how = { repetitions, quicken: place.haste * (flags.quick ? 10 : 1) };
      for (const collective of namesOf(setting)) {
        progress.update(done, `${collective} on ${setting.ranks} ranks, ${setting.mode}`);
        rows.push(...(await measureCollective(collective, setting, sizes, how, sides, signal)));
        done += 1;
      }
    }
  });
  return facts;
}
