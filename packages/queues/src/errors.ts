/**
 * A queue was made or used in a way that its layout doesn't allow. It has the shape of every dfccl error ({code, facts,
 * remedy, cause}) without depending on the package that declares the family: this one stands alone.
 */
export class QueueMisuseError extends Error {
  readonly code = "QUEUE_MISUSE";

  constructor(
    what: string,
    readonly facts: Readonly<Record<string, unknown>>,
    readonly remedy: string,
  ) {
    super(`${what} ${remedy}`);
    this.name = "QueueMisuseError";
  }
}

/** A value in a message; of what only looks like a number, "4" or 4n, with its type. */
function formatted(value: unknown): string {
  if (typeof value === "bigint") return `the bigint ${value}n`;
  if (typeof value === "string") return `the string "${value.slice(0, 100)}"`;
  return typeof value === "object" && value !== null ? "an object" : typeof value === "function" ? "a function" : String(value);
}

/** Bytes of a queue that has `count` of something. @throws {QueueMisuseError} for what is no number of things. */
export function bytesOf(name: string, count: number, fixed: number, each: number): number {
  checkInteger(name, count, 0, 2 ** 31);
  return fixed + count * each;
}

export function isPowerOfTwo(value: number): boolean {
  return Number.isInteger(value) && value > 0 && value <= 2 ** 31 && Number.isInteger(Math.log2(value));
}

/** @throws {QueueMisuseError} unless `value` is a power of two from `least` to `most`. */
export function checkPowerOfTwo(name: string, value: number, least: number, most: number): void {
  if (isPowerOfTwo(value) && value >= least && value <= most) return;
  throw new QueueMisuseError(
    `${name} is ${formatted(value)}.`,
    { [name]: value, least, most },
    `Give a power of two from ${least} to ${most}.`,
  );
}

/** @throws {QueueMisuseError} unless `value` is an integer from `least` to `most`. */
export function checkInteger(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new QueueMisuseError(
    `${name} is ${formatted(value)}.`,
    { [name]: value, least, most },
    `Give a whole number from ${least} to ${most}.`,
  );
}
