import { bufferKinds } from "./buffer-kind.js";
import { isCollective } from "./collective.js";
import { formatValue } from "./errors.js";
import { ops } from "./op.js";
import { BadProgramError } from "./program-errors.js";
import type { Program, RankProgram } from "./program-form.js";
import { isProtocol } from "./protocol.js";

const remedy = "Give a program that buildProgram() or @dfccl/compiler made.";

/**
 * Refuses what has not the form of a program: it may come from a file that somebody edited, or from JavaScript. What the
 * verifier proves is another matter.
 * @throws {BadProgramError}
 */
export function checkProgram(program: Program): void {
  checkProgramFacts(program);
  program.ranks.forEach((rank, index) => {
    checkRankProgram(rank, `ranks[${index}]`);
  });
}

/** The same without the steps, for what looks at the whole only. */
export function checkProgramFacts(program: Program): void {
  if (!isObject(program) || !Array.isArray(program.ranks)) throw new BadProgramError("It has no ranks with blocks of steps.", remedy);
  const { collective, protocol, root } = program;
  if (!isCollective(collective)) throw new BadProgramError(`Its collective is ${formatValue(collective)}.`, remedy);
  if (!isProtocol(protocol)) throw new BadProgramError(`Its protocol is ${formatValue(protocol)}.`, remedy);
  for (const field of ["chunksPerSegment", "inputSegments", "outputSegments", "slotCount"] as const) {
    if (typeof program[field] !== "number") throw new BadProgramError(`Its ${field} is ${formatValue(program[field])}.`, remedy);
  }
  for (const field of ["inPlace", "outOfPlace"] as const) {
    if (typeof program[field] !== "boolean") throw new BadProgramError(`Its ${field} is ${formatValue(program[field])}.`, remedy);
  }
  if (root !== undefined && typeof root !== "number") throw new BadProgramError(`Its root is ${formatValue(root)}.`, remedy);
}

/** @param name - of the rank, for messages. */
export function checkRankProgram(rank: RankProgram, name: string): void {
  const bad = (what: string): BadProgramError => new BadProgramError(what, remedy);
  if (!isObject(rank) || !Array.isArray(rank.blocks)) throw bad(`Its ${name} has no blocks of steps.`);
  // What is negative, or no whole number, is no length of a buffer.
  if (!Number.isSafeInteger(rank.scratchChunks) || rank.scratchChunks < 0)
    throw bad(`Its ${name}.scratchChunks is ${formatValue(rank.scratchChunks)}.`);
  rank.blocks.forEach((block: unknown, index) => {
    const steps = isObject(block) ? block.steps : undefined;
    if (!Array.isArray(steps)) throw bad(`Its ${name}.blocks[${index}] has no steps.`);
    const wrong = steps.findIndex((step) => !isStep(step));
    if (wrong >= 0) throw bad(`Its ${name}.blocks[${index}].steps[${wrong}] is no step.`);
  });
}

function isStep(step: unknown): boolean {
  if (!isObject(step)) return false;
  const { op, count, src, dst, send, recv, sources, destinations, dependsOn } = step;
  return (
    (ops as readonly unknown[]).includes(op) &&
    typeof count === "number" &&
    [src, dst].every((chunk) => chunk === undefined || isChunk(chunk)) &&
    (send === undefined || isEnd(send, "remote")) &&
    (recv === undefined || isEnd(recv, "landing")) &&
    [sources, destinations].every((refs) => refs === undefined || isListOf(refs, (ref) => isChunk(ref) && hasNumbers(ref, "rank"))) &&
    (dependsOn === undefined || isListOf(dependsOn, (other) => hasNumbers(other, "block", "step")))
  );
}

function isChunk(chunk: unknown): boolean {
  return hasNumbers(chunk, "chunk") && (bufferKinds as readonly unknown[]).includes((chunk as { buffer?: unknown }).buffer);
}

function isEnd(end: unknown, place: "remote" | "landing"): boolean {
  if (!hasNumbers(end, "peer", "channel")) return false;
  const chunk = (end as Readonly<Record<string, unknown>>)[place];
  return chunk === undefined || isChunk(chunk);
}

function isListOf(list: unknown, holds: (entry: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(holds);
}

function hasNumbers(value: unknown, ...names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => typeof value[name] === "number");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
