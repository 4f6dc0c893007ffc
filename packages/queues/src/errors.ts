/**
 * A queue was made or used in a way that its layout doesn't allow. It has the shape of every dfccl error ({code, facts,
 * remedy, cause}) without depending on the package that declares the family: this one stands alone.
 */
export class QueueMisuseError extends Error {
  readonly code = "QUEUE_MISUSE";
  readonly facts: Readonly<Record<string, unknown>>;
  readonly remedy: string;

  constructor(what: string, facts: Readonly<Record<string, unknown>>, remedy: string, cause?: unknown) {
    // Whoever constructs it in JavaScript may leave out anything.
    const advice = typeof remedy === "string" ? remedy : "Give its constructor what its type asks for.";
    super(`${what} ${advice}`, cause === undefined ? undefined : { cause });
    this.name = "QueueMisuseError";
    this.facts = typeof facts === "object" ? (facts ?? {}) : {};
    this.remedy = advice;
  }
}

/** A value in a message; of what only looks like a number, "4" or 4n, with its type. */
function formatted(value: unknown): string {
  if (typeof value === "bigint") return `the bigint ${value}n`;
  if (typeof value === "string") return `the string "${value.slice(0, 100)}"`;
  if (typeof value === "symbol") return "a symbol";
  return typeof value === "object" && value !== null ? "an object" : typeof value === "function" ? "a function" : String(value);
}

/**
 * Before anything is written: a queue that stopped halfway through an entry would stay as it is then, its lock held.
 * @throws {QueueMisuseError} unless `value` is an object whose `fields` are numbers.
 */
export function checkNumbers(name: string, value: object, fields: readonly string[]): void {
  for (const field of fields) {
    const given = fieldOf(name, value, field);
    if (typeof given === "number") continue;
    throw new QueueMisuseError(`${name}.${field} is ${formatted(given)}.`, { [field]: given }, "Give a number.");
  }
}

function fieldOf(name: string, value: object, field: string): unknown {
  try {
    return (value as Readonly<Record<string, unknown>>)[field];
  } catch (cause) {
    throw new QueueMisuseError(`${name} has no ${field} that can be read.`, { field }, "Give an object with all fields.", cause);
  }
}

/** @throws {QueueMisuseError} */
export function checkFunction(name: string, value: unknown): void {
  if (typeof value !== "function") throw new QueueMisuseError(`${name} is ${formatted(value)}.`, {}, "Give a function.");
}

/** @throws {QueueMisuseError} */
export function checkList(name: string, value: unknown): void {
  try {
    if (Array.isArray(value)) return;
  } catch {
    // A revoked proxy is no list either.
  }
  throw new QueueMisuseError(`${name} is ${formatted(value)}.`, {}, "Give a list.");
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
