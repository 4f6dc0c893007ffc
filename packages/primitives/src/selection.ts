import { listAlgorithms, needsSharedMemory, type BuildableCollective, type Placement } from "./build-program.js";
import type { Algorithm } from "./builders/algorithms.js";
import { inputSegmentsOf, outputSegmentsOf } from "./collective.js";
import { byteSizeOf, type DataType } from "./data-type.js";
import { DfcclError } from "./errors.js";
import type { Protocol } from "./protocol.js";
import { defaultSelectionTable } from "./selection-table.js";

/** What all ranks agree on before they choose. */
export interface SelectionRequest {
  readonly collective: BuildableCollective;
  readonly ranks: number;
  readonly inPlace: Placement;
  /** Bytes of a rank's larger buffer: see {@link messageBytes}. */
  readonly bytes: number;
  readonly platform: PlatformFacts;
}

export interface PlatformFacts {
  /** Every rank can read and write every other rank's buffers. */
  readonly sharedMemory: boolean;
}

/** How a collective will be carried out: what `buildProgram` needs beyond the collective itself. */
export interface SelectionChoice {
  readonly algorithm: Algorithm;
  readonly protocol: Protocol;
  readonly channels: number;
}

/** One line of a table. A condition that is left out always holds. */
export interface SelectionRule {
  readonly collective: BuildableCollective;
  readonly sharedMemory?: boolean;
  readonly placements?: readonly Placement[];
  readonly maxRanks?: number;
  /** Largest message, in bytes, that the rule is for. */
  readonly maxBytes?: number;
  readonly choice: SelectionChoice;
}

/** Plain data, so that it can be stored, tuned and compared. The first rule that fits decides. */
export type SelectionTable = readonly SelectionRule[];

/** No rule of the table fits. */
export class NoRuleFitsError extends DfcclError {
  override readonly code = "NO_RULE_FITS";

  constructor(request: SelectionRequest) {
    const { collective, ranks, bytes } = request;
    super(`The selection table has no rule for ${collective} of ${bytes} bytes on ${ranks} ranks.`, {
      facts: { ...request },
      remedy: "Add a rule without maxBytes and maxRanks for this collective, or use the default table.",
    });
  }
}

/**
 * Chooses how to carry out a collective. Pure: ranks that pass equal requests and tables get equal choices. Rules whose
 * algorithm doesn't apply here (rank count, placement, no shared memory) are passed over.
 * @throws {NoRuleFitsError} if no rule is left.
 */
export function selectProgram(request: SelectionRequest, table: SelectionTable = defaultSelectionTable): SelectionChoice {
  const possible = new Set(listAlgorithms(request.collective, request.ranks, request.inPlace));
  const rule = table.find((candidate) => fits(candidate, request) && possible.has(candidate.choice.algorithm));
  if (rule === undefined) throw new NoRuleFitsError(request);
  return rule.choice;
}

/**
 * Size by which tables choose: bytes of a rank's larger buffer, as nccl-tests counts them.
 * @param count - elements of a segment, as registered.
 */
export function messageBytes(collective: BuildableCollective, ranks: number, count: number, dataType: DataType): number {
  const segments = Math.max(inputSegmentsOf(collective, ranks), outputSegmentsOf(collective, ranks));
  return segments * count * byteSizeOf(dataType);
}

function fits(rule: SelectionRule, { collective, ranks, inPlace, bytes, platform }: SelectionRequest): boolean {
  return (
    rule.collective === collective &&
    (rule.sharedMemory === undefined || rule.sharedMemory === platform.sharedMemory) &&
    (platform.sharedMemory || !needsSharedMemory(collective, rule.choice.algorithm)) &&
    (rule.placements === undefined || rule.placements.includes(inPlace)) &&
    ranks <= (rule.maxRanks ?? Infinity) &&
    bytes <= (rule.maxBytes ?? Infinity)
  );
}
