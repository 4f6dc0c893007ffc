import { buildNativeTarget, repositoryRoot } from "../peers/native-programs.js";
import { withNote } from "../terminal/note.js";

let built: Promise<string> | undefined;

/**
 * The folder of the native loops: what DFCCL_PERF_PROGRAMS names, or this clone's, built where something has changed.
 * @throws {BenchError} NO_SOURCES, NO_CMAKE, BUILD_FAILED
 */
export function nativePrograms(signal?: AbortSignal): Promise<string> {
  const { DFCCL_PERF_PROGRAMS: stated } = process.env;
  if (stated) return Promise.resolve(stated);
  built ??= withNote("Building the native loop", () => buildNativeTarget(repositoryRoot(), "perf", signal));
  return built;
}
