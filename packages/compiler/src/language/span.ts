import { type BufferKind, checkNumber, checkObject, checkText } from "@dfccl/primitives";

/** `count` chunks of one rank's buffer, from `index` on. */
export interface Span {
  readonly rank: number;
  readonly buffer: BufferKind;
  readonly index: number;
  readonly count: number;
}

/** "input[3] of rank 1", "scratch[0..3] of rank 2". */
export function formatSpan(span: Span): string {
  checkObject("span", span, 'an object such as { rank: 0, buffer: "input", index: 0, count: 1 }');
  const { rank, buffer, index, count } = span;
  checkText("span.buffer", buffer, "input, output or scratch");
  for (const field of ["rank", "index", "count"] as const) checkNumber(`span.${field}`, span[field]);
  return `${buffer}[${count === 1 ? index : `${index}..${index + count - 1}`}] of rank ${rank}`;
}

/** Same buffer of the same rank, same chunks. */
export function isSameSpan(a: Span, b: Span): boolean {
  return a.rank === b.rank && a.buffer === b.buffer && a.index === b.index && a.count === b.count;
}

export function overlaps(a: Span, b: Span): boolean {
  return a.rank === b.rank && a.buffer === b.buffer && a.index < b.index + b.count && b.index < a.index + a.count;
}
