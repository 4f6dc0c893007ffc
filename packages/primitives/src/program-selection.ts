import type { BuildableCollective } from "./build-program.js";
import { checkList } from "./check-kind.js";
import { checkInteger, checkNumber } from "./check-number.js";
import { checkObject } from "./check-object.js";
import { checkProgramFacts } from "./check-program.js";
import type { Program } from "./program.js";
import { checkRequest, type SelectionRequest, selectProgram } from "./selection.js";
import { defaultSelectionTable, type SelectionChoice, type SelectionTable } from "./selection-table.js";

/** A program of one's own, and for which messages it is meant. */
export interface ProgramRule {
  readonly name: string;
  readonly program: Program;
  /** Smallest message, in bytes as `messageBytes` counts them. Default 0. */
  readonly minBytes?: number;
  /** The first size that is too large; 0, the default, stands for no limit. */
  readonly maxBytes?: number;
  /** Take it only where every chunk is whole: the count is a multiple of the chunks. MSCCL's runtime asks for that. Default false. */
  readonly wholeChunksOnly?: boolean;
}

export interface ProgramRequest extends SelectionRequest {
  readonly collective: BuildableCollective;
  /** Elements of a segment. */
  readonly count: number;
  /** Where the collective has one. */
  readonly root?: number;
}

/** Why a rule wasn't taken. */
export interface PassedOver {
  readonly name: string;
  readonly why: string;
}

export type ProgramChoice =
  | { readonly kind: "program"; readonly rule: ProgramRule; readonly passedOver: readonly PassedOver[] }
  | { readonly kind: "built-in"; readonly choice: SelectionChoice; readonly passedOver: readonly PassedOver[] };

/**
 * Chooses among programs of one's own, the first that fits, and else a built-in algorithm. Pure: ranks that pass equal
 * requests, rules and tables choose alike. Where theirs differ, registration tells: programs have digests.
 * @throws {NoRuleFitsError} if nothing fits and the table has no rule left either.
 * @see GC3, section 6 (the runtime selects by size, and falls back to NCCL's own)
 */
export function selectAmongPrograms(
  request: ProgramRequest,
  rules: readonly ProgramRule[],
  table: SelectionTable = defaultSelectionTable,
): ProgramChoice {
  checkRequest(request);
  checkInteger("request.count", request.count, 0);
  checkList("rules", rules, "a list such as [{ name, program }]");
  const passedOver: PassedOver[] = [];
  for (const rule of rules) {
    checkObject("a rule", rule, "an object such as { name, program, minBytes: 0 }");
    checkProgramFacts(rule.program);
    for (const bytes of ["minBytes", "maxBytes"] as const) checkNumber(`a rule's ${bytes}`, rule[bytes] ?? 0);
    const why = reasonAgainst(rule, request);
    if (why === undefined) return { kind: "program", rule, passedOver };
    passedOver.push({ name: rule.name, why });
  }
  return { kind: "built-in", choice: selectProgram(request, table), passedOver };
}

function reasonAgainst({ program, minBytes = 0, maxBytes = 0, wholeChunksOnly }: ProgramRule, request: ProgramRequest): string | undefined {
  const { collective, ranks, inPlace, bytes, count, platform } = request;
  if (program.collective !== collective) return `its collective is ${program.collective}`;
  if (program.ranks.length !== ranks) return `it is for ${program.ranks.length} ranks`;
  if (program.root !== undefined && program.root !== request.root) return `its root is rank ${program.root}`;
  if (inPlace !== false && !program.inPlace) return "it can't run in place";
  if (inPlace !== true && !program.outOfPlace) return "it can run in place only";
  if (bytes < minBytes) return `it is for ${minBytes} bytes and more`;
  if (maxBytes > 0 && bytes >= maxBytes) return `it is for less than ${maxBytes} bytes`;
  if (wholeChunksOnly && count % program.chunksPerSegment !== 0)
    return `${count} elements aren't a multiple of its ${program.chunksPerSegment} chunks`;
  if (program.usesDirect && !platform.sharedMemory) return "its ranks must share memory";
  return undefined;
}
