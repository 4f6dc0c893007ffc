import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { PerfError } from "@dfccl/collective-tests";
import { findNativeProgram } from "@dfccl/core";
import { buildNativeTarget, findCommand, findRoot } from "../peers/native-programs.js";
import { withNote } from "../terminal/note.js";

/** Programs that belong together, as CMake calls them: those for CPUs, and the one for GPUs. */
export type ProgramSet = "perf" | "perf_gpu";

/** Where the native loops lie; builds them where that has to be done first. */
export type FindPrograms = (programs: ProgramSet, signal?: AbortSignal) => Promise<string>;

const built = new Map<ProgramSet, Promise<string>>();

/**
 * The folder of the native loops: what DFCCL_PERF_PROGRAMS names; in a clone what is built there, where something has changed; else
 * the platform's package, which has them prebuilt.
 * @throws {BenchError} NO_CMAKE, BUILD_FAILED
 * @throws {PerfError} BACKEND_MISSING
 */
export const nativePrograms: FindPrograms = async (programs, signal) => {
  const { DFCCL_PERF_PROGRAMS: stated } = process.env;
  if (stated) return stated;
  if (programs === "perf_gpu") checkDriver();
  const root = findRoot();
  if (root === undefined) return packagedPrograms(programs);
  const known = built.get(programs);
  if (known) return known;
  if (programs === "perf_gpu") checkCompiler();
  const note = programs === "perf" ? "Building the native loop" : "Building the engine for GPUs, which takes minutes";
  const building = withNote(note, () => buildNativeTarget(root, programs, signal));
  built.set(programs, building);
  return building;
};

function packagedPrograms(programs: ProgramSet): string {
  const program = findNativeProgram(programs === "perf" ? "perf_bench" : programs);
  if (program !== undefined) return dirname(program);
  if (programs === "perf_gpu")
    throw missingGpu("the package with the GPU engine isn't installed", "Type: npm install @dfccl/native-linux-x64-gnu-cuda");
  throw new PerfError(
    "BACKEND_MISSING",
    "The native loop is missing: the package of this platform isn't installed.",
    "Install again with optional dependencies: npm install --include=optional dfccl",
  );
}

/** Whether it is worth looking for anything for GPUs. */
function checkDriver(): void {
  if (["/dev/nvidiactl", "/dev/dxg"].some((path) => existsSync(path))) return;
  throw missingGpu("this machine has no NVIDIA driver", "Install it, or measure on CPUs.");
}

/** And building it. */
function checkCompiler(): void {
  if (findCommand("nvcc") !== undefined) return;
  throw missingGpu(
    "nvcc is not on the PATH, which builds what measures them",
    "Install the CUDA toolkit, or use the folder of npm run pack:gpu.",
  );
}

function missingGpu(what: string, remedy: string): PerfError {
  return new PerfError("BACKEND_MISSING", `Backends on GPUs are missing: ${what}.`, remedy);
}
