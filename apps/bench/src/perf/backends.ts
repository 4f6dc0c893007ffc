import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { userInfo } from "node:os";
import { join } from "node:path";
import { type OpenBackend, type PerfBackend, PerfError, type PerfOptions, ranksOf } from "@dfccl/collective-tests";
import type { Program } from "@dfccl/primitives";
import { mpirunFlags } from "../peers/mpirun-flags.js";
import { cloneRemedy, findCommand, findRoot } from "../peers/native-programs.js";
import { jsonLines, runProgram } from "../peers/run-program.js";
import type { EngineRequest } from "./engine-request.js";
import type { FindPrograms } from "./find-programs.js";
import { openGpu } from "./gpu-backends.js";
import { cpuRanks, openNative } from "./native-backend.js";
import { programArguments } from "./program-arguments.js";

const mostRanks = 1024;
const { version } = createRequire(import.meta.url)("dfccl/package.json") as { version: string };

interface PerfBackendOptions {
  /** GPU of rank 0; default: 0. */
  readonly firstDevice?: number | undefined;
  /** Programs that cases of this engine name by their number, from 1. */
  readonly choices?: readonly Program[];
  /** More arguments of this engine's native loop. */
  readonly engineArguments?: readonly string[];
}

export function perfBackends(
  findPrograms: FindPrograms,
  { firstDevice = 0, choices = [], engineArguments = [] }: PerfBackendOptions = {},
): PerfBackend[] {
  const engine = { findPrograms, choices, engineArguments, firstDevice };
  const other = { ...engine, choices: [], engineArguments: [] };
  return [
    { name: "cpu", open: (options, signal) => openEngine("cpu", { ...engine, options, signal }) },
    { name: "noop", open: (options, signal) => openEngine("noop", { ...other, options, signal }) },
    { name: "mpi", open: (options, signal) => openMpi(options, findPrograms, signal) },
    { name: "cuda", open: (options, signal) => openGpu("cuda", { ...engine, options, signal }) },
    { name: "nccl", open: (options, signal) => openGpu("nccl", { ...other, options, signal }) },
  ];
}

async function openEngine(
  name: "cpu" | "noop",
  { options, findPrograms, choices, engineArguments, signal }: EngineRequest,
): Promise<OpenBackend> {
  const ranks = ranksOf(options);
  checkRanks(ranks);
  const command = join(await findPrograms("perf", signal), "perf_bench");
  const prepare = name === "cpu" ? programArguments([1], choices) : () => [];
  const probe = options.output_file === "" ? {} : await probeMachine(command, signal);
  return openNative({ name, version, ...cpuRanks(ranks), command, args: ["--backend", name, ...engineArguments], prepare, probe });
}

/** What cores and memory can do at this moment: it stands beside every figure that is kept. */
async function probeMachine(command: string, signal: AbortSignal | undefined): Promise<Readonly<Record<string, unknown>>> {
  const [figures = {}] = jsonLines(await runProgram({ command, args: ["--probe", "yes"], signal }));
  const { coreRoundTripNs, copyGBs } = figures;
  return { coreRoundTripNs, copyGBs };
}

async function openMpi(options: PerfOptions, findPrograms: FindPrograms, signal: AbortSignal | undefined): Promise<OpenBackend> {
  const ranks = ranksOf(options);
  checkRanks(ranks);
  const mpirun = findCommand("mpirun");
  const program = join(await findPrograms("perf", signal), "openmpi_perf_mpi");
  if (!existsSync(program) && findRoot() === undefined) {
    throw new PerfError("BACKEND_MISSING", "The backend mpi is missing: it is built against the MPI that it measures.", cloneRemedy);
  }
  if (mpirun === undefined || !existsSync(program)) {
    const what = mpirun === undefined ? "mpirun is not on the PATH" : "its headers were not found when the programs were built";
    throw new PerfError("BACKEND_MISSING", `The backend mpi is missing: ${what}.`, "Type: apt-get install openmpi-bin libopenmpi-dev");
  }
  const version = /\d+\.\d+\.\d+/.exec(await runProgram({ command: mpirun, args: ["--version"], signal }))?.[0] ?? "";
  const args = [...mpirunFlags(userInfo().uid === 0), "-np", String(ranks), program];
  return openNative({ name: "mpi", version, ...cpuRanks(ranks), command: mpirun, args, startsOthers: true });
}

function checkRanks(ranks: number): void {
  if (ranks <= mostRanks) return;
  throw new PerfError(
    "TOO_FEW_DEVICES",
    `Invalid number of ranks: ${ranks} requested, and ${mostRanks} is the most.`,
    "Ask for fewer: -t, -g.",
  );
}
