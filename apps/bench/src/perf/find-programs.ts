import { existsSync } from "node:fs";
import { PerfError } from "@dfccl/collective-tests";
import { buildNativeTarget, findCommand, repositoryRoot } from "../peers/native-programs.js";
import { withNote } from "../terminal/note.js";

/** Programs that belong together, as CMake calls them: those for CPUs, and the one for GPUs. */
export type ProgramSet = "perf" | "perf_gpu";

/** Where the native loops lie; builds them where that has to be done first. */
export type FindPrograms = (programs: ProgramSet, signal?: AbortSignal) => Promise<string>;

const built = new Map<ProgramSet, Promise<string>>();

/**
 * The folder of the native loops: what DFCCL_PERF_PROGRAMS names, or this clone's, built where something has changed.
 * @throws {BenchError} NO_SOURCES, NO_CMAKE, BUILD_FAILED
 * @throws {PerfError} BACKEND_MISSING
 */
export const nativePrograms: FindPrograms = (programs, signal) => {
  const { DFCCL_PERF_PROGRAMS: stated } = process.env;
  if (stated) return Promise.resolve(stated);
  const known = built.get(programs);
  if (known) return known;
  const root = repositoryRoot();
  if (programs === "perf_gpu") checkGpuTools();
  const note = programs === "perf" ? "Building the native loop" : "Building the engine for GPUs, which takes minutes";
  const building = withNote(note, () => buildNativeTarget(root, programs, signal));
  built.set(programs, building);
  return building;
};

/** Whether it is worth building anything for GPUs. */
function checkGpuTools(): void {
  const missing = (what: string, remedy: string): PerfError =>
    new PerfError("BACKEND_MISSING", `Backends on GPUs are missing: ${what}.`, remedy);
  if (!["/dev/nvidiactl", "/dev/dxg"].some((path) => existsSync(path))) {
    throw missing("this machine has no NVIDIA driver", "Install it, or measure on CPUs.");
  }
  if (findCommand("nvcc") === undefined) {
    throw missing(
      "nvcc is not on the PATH, which builds what measures them",
      "Install the CUDA toolkit, or use the folder of npm run pack:gpu.",
    );
  }
}
