import { existsSync, mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BenchError } from "./bench-error.js";
import { type ProgramRun, runProgram } from "./run-program.js";

/** The clone of the repository that this file lies in; undefined where it was installed from a registry. */
export function findRoot(from: string = dirname(fileURLToPath(import.meta.url))): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, "native", "CMakePresets.json"))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/** What to do about what only a clone has. */
export const cloneRemedy = "Clone the repository, run npm run build in it, and there the same command as node apps/bench/dist/cli.js.";

/** Where a command lies on the PATH. */
export function findCommand(name: string, environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = (environment.PATH ?? "").split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/**
 * Builds a target of CMake's where something has changed.
 * @returns the folder that the native benchmarks lie in.
 * @throws {BenchError} NO_CMAKE, BUILD_FAILED
 */
export async function buildNativeTarget(root: string, target: string, signal?: AbortSignal): Promise<string> {
  if (findCommand("cmake") === undefined) {
    throw new BenchError("NO_CMAKE", "CMake is missing, which builds the native benchmarks.", "Type: apt-get install cmake g++");
  }
  const jobs = String(availableParallelism());
  // Two commands that are started at once would configure one folder together. scripts/lib/locked.mjs takes the same lock.
  const lock = join(root, "build", "release.lock");
  mkdirSync(dirname(lock), { recursive: true });
  const [command, ...first] = findCommand("flock") === undefined ? ["cmake"] : ["flock", lock, "cmake"];
  for (const args of [
    ["--preset", "release"],
    ["--build", "--preset", "release", "--target", target, "-j", jobs],
  ]) {
    const run: ProgramRun = { command, args: [...first, ...args], cwd: join(root, "native"), timeoutMs: 1_800_000, signal };
    try {
      await runProgram(run);
    } catch (error) {
      if (signal?.aborted || !(error instanceof BenchError)) throw error;
      throw new BenchError("BUILD_FAILED", error.message, "Mend what the compiler says, and run the same command again.", error.facts);
    }
  }
  return join(root, "build", "release", "bench");
}
