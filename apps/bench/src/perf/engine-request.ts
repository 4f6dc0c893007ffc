import type { PerfOptions } from "@dfccl/collective-tests";
import type { Program } from "@dfccl/primitives";
import type { FindPrograms } from "./find-programs.js";

/** What this engine's native loop, or one like it, is to be opened with. */
export interface EngineRequest {
  readonly options: PerfOptions;
  readonly findPrograms: FindPrograms;
  /** Programs that cases name by their number, from 1. */
  readonly choices: readonly Program[];
  /** More arguments of the native loop. */
  readonly engineArguments: readonly string[];
  readonly signal: AbortSignal | undefined;
}
