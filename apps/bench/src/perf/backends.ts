import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { userInfo } from "node:os";
import { join } from "node:path";
import {
  type BackendName,
  type Measurement,
  type OpenBackend,
  type PerfBackend,
  PerfError,
  type PerfOptions,
  ranksOf,
} from "@dfccl/collective-tests";
import { mpirunFlags } from "../peers/measure-peers.js";
import { findCommand } from "../peers/native-programs.js";
import { jsonLines, runProgram } from "../peers/run-program.js";
import { enginePrograms, writePrograms } from "./engine-programs.js";
import { openNative } from "./native-backend.js";

/** Where the native loops lie; builds them where that has to be done first. */
export type FindPrograms = (signal?: AbortSignal) => Promise<string>;

const mostRanks = 1024;
const { version } = createRequire(import.meta.url)("dfccl/package.json") as { version: string };

export function perfBackends(findPrograms: FindPrograms): PerfBackend[] {
  return [
    { name: "cpu", open: (options, signal) => openEngine("cpu", options, findPrograms, signal) },
    { name: "noop", open: (options, signal) => openEngine("noop", options, findPrograms, signal) },
    { name: "mpi", open: (options, signal) => openMpi(options, findPrograms, signal) },
    missing("cuda", "the engine's GPU platform is measured by its own program until it is in the packages", "See docs/benchmarks/gpu.md."),
    missing("nccl", "NCCL is measured beside the GPU platform, by the same program", "See docs/benchmarks/gpu.md."),
  ];
}

function missing(name: BackendName, why: string, remedy: string): PerfBackend {
  return {
    name,
    open: () => Promise.reject(new PerfError("BACKEND_MISSING", `The backend ${name} is missing: ${why}.`, remedy, { backend: name })),
  };
}

async function openEngine(
  name: "cpu" | "noop",
  options: PerfOptions,
  findPrograms: FindPrograms,
  signal: AbortSignal | undefined,
): Promise<OpenBackend> {
  const ranks = ranksOf(options);
  checkRanks(ranks);
  const command = join(await findPrograms(signal), "perf_bench");
  const prepare = (measurement: Measurement, folder: string): string[] => (name === "cpu" ? programFiles(measurement, ranks, folder) : []);
  const probe = options.output_file === "" ? {} : await probeMachine(command, signal);
  return openNative({ name, version, ranks, command, args: ["--backend", name], prepare, probe });
}

/** What cores and memory can do at this moment: it stands beside every figure that is kept. */
async function probeMachine(command: string, signal: AbortSignal | undefined): Promise<Readonly<Record<string, unknown>>> {
  const [figures = {}] = jsonLines(await runProgram({ command, args: ["--probe", "yes"], signal }));
  const { coreRoundTripNs, copyGBs } = figures;
  return { coreRoundTripNs, copyGBs };
}

function programFiles({ run }: Measurement, ranks: number, folder: string): string[] {
  const { outOfPlace, inPlace } = enginePrograms(run.collective, ranks);
  return [["--program", outOfPlace] as const, ["--in-place-program", inPlace] as const].flatMap(([option, program]) => {
    if (program === undefined) return [];
    const path = join(folder, option.slice(2));
    writePrograms(path, program);
    return [option, path];
  });
}

async function openMpi(options: PerfOptions, findPrograms: FindPrograms, signal: AbortSignal | undefined): Promise<OpenBackend> {
  const ranks = ranksOf(options);
  checkRanks(ranks);
  const mpirun = findCommand("mpirun");
  const program = join(await findPrograms(signal), "openmpi_perf_mpi");
  if (mpirun === undefined || !existsSync(program)) {
    const what = mpirun === undefined ? "mpirun is not on the PATH" : "its headers were not found when the programs were built";
    throw new PerfError("BACKEND_MISSING", `The backend mpi is missing: ${what}.`, "Type: apt-get install openmpi-bin libopenmpi-dev");
  }
  const version = /\d+\.\d+\.\d+/.exec(await runProgram({ command: mpirun, args: ["--version"], signal }))?.[0] ?? "";
  const args = [...mpirunFlags(userInfo().uid === 0), "-np", String(ranks), program];
  return openNative({ name: "mpi", version, ranks, command: mpirun, args });
}

function checkRanks(ranks: number): void {
  if (ranks <= mostRanks) return;
  throw new PerfError(
    "TOO_FEW_DEVICES",
    `Invalid number of ranks: ${ranks} requested, and ${mostRanks} is the most.`,
    "Ask for fewer: -t, -g.",
  );
}
