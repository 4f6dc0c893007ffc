import { type BackendName, type OpenBackend, openBackend, PerfError } from "@dfccl/collective-tests";
import { type Mode, optionsFor } from "../collectives/measure.js";
import type { PeerFacts } from "../peers/report-header.js";
import { perfBackends } from "../perf/backends.js";
import { nativePrograms } from "../perf/find-programs.js";
import { describeGpus } from "../perf/gpu-backends.js";
import type { Contender } from "./contenders.js";
import { measureNatively, type NativeContender, testFor } from "./measure-natively.js";
import type { SizeResult } from "./program-table.js";

/** The engine and the library beside it that a comparison is made on. */
export interface NativePlace {
  readonly engine: BackendName;
  readonly peer?: BackendName | undefined;
}

export interface CompareNativelyOptions {
  readonly place: NativePlace;
  /** Of a rank's larger buffer; ascending. */
  readonly sizes: readonly number[];
  readonly mode: Mode;
  readonly rounds: number;
  /** Most that a slot of a connection carries; default: the engine's. */
  readonly slotBytes?: number | undefined;
  /** Divides how often a turn repeats an operation. */
  readonly quicken: number;
  readonly signal: AbortSignal;
  readonly onTurn?: (bytes: number) => void;
}

/** What the engine chooses where no program is given. */
export const engineChoice = "built-in";

/**
 * Compares programs for one collective with what the engine itself chooses, and with another library where it is there.
 * @param programs - for one collective on the same ranks, see contendersOf.
 */
export async function compareNatively(
  programs: readonly Contender[],
  { place, slotBytes, ...options }: CompareNativelyOptions,
): Promise<{ readonly results: SizeResult[]; readonly facts: PeerFacts }> {
  const able = programs.filter(({ program }) => program.outOfPlace);
  const [first] = able;
  if (first === undefined) return { results: [], facts: {} };
  const ranks = first.program.ranks.length;
  const backends = perfBackends(nativePrograms, {
    choices: able.map(({ program }) => program),
    engineArguments: slotBytes === undefined ? [] : ["--slot-bytes", String(slotBytes)],
  });
  const open = (name: BackendName): Promise<OpenBackend> =>
    openBackend(backends, name, optionsFor({ ranks, mode: options.mode, hasThreads: true }), options.signal);
  const engine = await open(place.engine);
  const peer = place.peer && (await open(place.peer).catch(orMissing));
  const contenders: NativeContender[] = [
    ...able.map(({ name, largestBytes }, index) => ({ name, backend: engine, choice: index + 1, largestBytes })),
    { name: engineChoice, backend: engine, largestBytes: Infinity },
    ...(peer && place.peer ? [{ name: place.peer.toUpperCase(), backend: peer, largestBytes: Infinity }] : []),
  ];
  const { collective, root } = first.program;
  const results = await measureNatively(contenders, { collective: testFor(collective), ranks, root, ...options });
  return { results, facts: place.engine === "cuda" ? { gpus: describeGpus(engine), nccl: peer?.version } : {} };
}

function orMissing(error: unknown): undefined {
  if (!(error instanceof PerfError) || error.code !== "BACKEND_MISSING") throw error;
}
