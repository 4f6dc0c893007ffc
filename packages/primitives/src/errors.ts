/** Named values that explain an error; they can be printed, logged and compared. */
export type ErrorFacts = Readonly<Record<string, unknown>>;

export interface DfcclErrorOptions {
  readonly facts?: ErrorFacts;
  /** What the reader can do about it, as a full sentence. */
  readonly remedy: string;
  readonly cause?: unknown;
}

/**
 * The one family of errors that dfccl throws. A caller switches on `code`, reads `facts`, and shows `message`, which
 * says what went wrong, where, and (the remedy) what to do about it.
 */
export abstract class DfcclError extends Error {
  /** Stable name of the kind of error, in capitals: it survives bundling and crosses processes. */
  abstract readonly code: string;
  readonly facts: ErrorFacts;
  readonly remedy: string;

  constructor(what: string, options: DfcclErrorOptions) {
    super(`${what} ${options.remedy}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.facts = options.facts ?? {};
    this.remedy = options.remedy;
  }
}

/** An argument is outside what the function accepts. `facts.argument` names it and `facts.value` is what was given. */
export class InvalidArgumentError extends DfcclError {
  override readonly code = "INVALID_ARGUMENT";

  constructor(argument: string, value: unknown, expected: string) {
    super(`${argument} is ${describe(value)}.`, {
      facts: { argument, value, expected },
      remedy: `Give ${expected}.`,
    });
  }
}

function describe(value: unknown): string {
  if (typeof value === "string") return `"${value}"`;
  if (Array.isArray(value)) return `[${value.map(describe).join(", ")}]`;
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
