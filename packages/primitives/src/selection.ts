import { type BuildableCollective, listAlgorithms, needsSharedMemory, type Placement } from "./build-program.js";
import { checkList } from "./check-kind.js";
import { checkInteger, checkNumber } from "./check-number.js";
import { checkObject } from "./check-object.js";
import { inputSegmentsOf, outputSegmentsOf } from "./collective.js";
import { byteSizeOf, type DataType } from "./data-type.js";
import { DfcclError } from "./errors.js";
import { defaultSelectionTable, type SelectionChoice, type SelectionRule, type SelectionTable } from "./selection-table.js";

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
  /** `[rank]`: its machine; leave out where all are on one. */
  readonly hosts?: readonly number[];
}

/** No rule of the table fits. */
export class NoRuleFitsError extends DfcclError {
  override readonly code = "NO_RULE_FITS";

  constructor(request: SelectionRequest) {
    super(() => `The selection table has no rule for ${request.collective} of ${request.bytes} bytes on ${request.ranks} ranks.`, {
      facts: { ...request },
      remedy: "Add a rule without maxBytes and maxRanks for this collective, or use the default table.",
    });
  }
}

/**
 * Chooses how to carry out a collective. Pure: ranks that pass equal requests and tables get equal choices. Rules whose
 * algorithm doesn't apply here (rank count, placement, no shared memory) are passed over.
 * @throws {NoRuleFitsError} if no rule is left; {InvalidArgumentError} for no request, or of a collective that there isn't.
 */
export function selectProgram(request: SelectionRequest, table: SelectionTable = defaultSelectionTable): SelectionChoice {
  checkRequest(request);
  checkList("table", table, "a list of rules, as defaultSelectionTable is one");
  const possible = new Set(listAlgorithms(request.collective, request.ranks, request.inPlace, request.platform.hosts));
  const rule = table.find((candidate) => isRule(candidate) && fits(candidate, request) && possible.has(candidate.choice.algorithm));
  if (rule === undefined) throw new NoRuleFitsError(request);
  return rule.choice;
}

/** @throws {InvalidArgumentError} */
export function checkRequest(request: SelectionRequest): void {
  checkObject("request", request, 'an object such as { collective: "all-reduce", ranks: 4, inPlace: false, bytes: 1024, platform }');
  checkObject("request.platform", request.platform, "an object such as { sharedMemory: true }");
  checkNumber("request.bytes", request.bytes);
  checkInteger("request.ranks", request.ranks, 1);
}

function isRule(rule: SelectionRule): boolean {
  checkObject("a rule of the table", rule, "an object such as { collective, choice: { algorithm, protocol, channels } }");
  checkObject("a rule's choice", rule.choice, "an object such as { algorithm, protocol, channels }");
  return true;
}

/**
 * Size by which tables choose: bytes of a rank's larger buffer, as nccl-tests counts them.
 * @param count - elements of a segment, as registered.
 */
export function messageBytes(collective: BuildableCollective, ranks: number, count: number, dataType: DataType): number {
  checkNumber("count", count);
  const segments = Math.max(inputSegmentsOf(collective, ranks), outputSegmentsOf(collective, ranks));
  return segments * count * byteSizeOf(dataType);
}

function fits(rule: SelectionRule, { collective, ranks, inPlace, bytes, platform }: SelectionRequest): boolean {
  return (
    rule.collective === collective &&
    (rule.sharedMemory === undefined || rule.sharedMemory === platform.sharedMemory) &&
    (rule.spansHosts === undefined || rule.spansHosts === new Set(platform.hosts).size > 1) &&
    (platform.sharedMemory || !needsSharedMemory(collective, rule.choice.algorithm)) &&
    (rule.placements === undefined || rule.placements.includes(inPlace)) &&
    ranks <= (rule.maxRanks ?? Infinity) &&
    bytes <= (rule.maxBytes ?? Infinity)
  );
}
