/** Named values that explain an error; they can be printed, logged and compared. */
export type ErrorFacts = Readonly<Record<string, unknown>>;

export interface DfcclErrorOptions {
  readonly facts?: ErrorFacts;
  /** What the reader can do about it, as a full sentence. */
  readonly remedy: string;
  readonly cause?: unknown;
}

/**
 * What an error says, or what words it: a function where that looks into arguments. Whoever constructs an error in JavaScript may
 * leave them out or mix them up, and a complaint about that would stand in the place of the error.
 */
export type Words<T> = T | (() => T);

/**
 * The one family of errors that dfccl throws. A caller switches on `code`, reads `facts`, and shows `message`, which
 * says what went wrong, where, and (the remedy) what to do about it.
 */
export abstract class DfcclError extends Error {
  /** Stable name of the kind of error, in capitals: it survives bundling and crosses processes. */
  abstract readonly code: string;
  readonly facts: ErrorFacts;
  readonly remedy: string;

  constructor(what: Words<string>, options: Words<DfcclErrorOptions>) {
    const { message, facts, remedy, cause } = said(new.target.name, what, options);
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.facts = facts;
    this.remedy = remedy;
  }
}

/** Where words can't be had, for whatever reason, the rest is said all the same. */
function said(name: string, what: Words<string>, options: Words<DfcclErrorOptions>) {
  const { facts, remedy, cause }: Partial<DfcclErrorOptions> = attempt(() => readWords(options)) ?? {};
  const advice = typeof remedy === "string" ? remedy : "Give its constructor what its type asks for.";
  const sentence = attempt(() => String(readWords(what))) ?? `${name} can't say what is wrong.`;
  return { message: `${sentence} ${advice}`, facts: typeof facts === "object" ? (facts ?? {}) : {}, remedy: advice, cause };
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

export function readWords<T extends string | object>(words: Words<T>): T {
  return typeof words === "function" ? words() : words;
}

/** An argument is outside what the function accepts. `facts.argument` names it and `facts.value` is what was given. */
export class InvalidArgumentError extends DfcclError {
  override readonly code = "INVALID_ARGUMENT";

  /** @param unreadable - `{ cause }`: what a getter or a proxy of the caller's threw, so that there is no value. */
  constructor(argument: string, value: unknown, expected: string, unreadable?: { readonly cause: unknown }) {
    super(
      () => `${argument} ${unreadable ? `can't be read: ${reasonOf(unreadable.cause)}` : `is ${formatValue(value)}`}.`,
      () => ({ facts: { argument, value, expected }, remedy: `Give ${expected}.`, ...unreadable }),
    );
  }
}

const functionKinds: Readonly<Record<string, string>> = {
  "[object AsyncFunction]": "an async function",
  "[object GeneratorFunction]": "a generator function",
  "[object AsyncGeneratorFunction]": "an async generator function",
};
const [mostEntries, mostLetters] = [16, 200];

/**
 * Any value, in the words of a message. Of what looks like a number and is none, "4" or 4n, the type is said: beside a demand
 * for a number from 1 to 8 nothing else would tell what is wrong.
 */
export function formatValue(value: unknown, depth = 0): string {
  try {
    return describe(value, depth);
  } catch {
    return "an object that can't be read";
  }
}

function describe(value: unknown, depth: number): string {
  if (typeof value === "string") return `${isNumeral(value) ? "the string " : ""}"${shortened(value)}"`;
  if (typeof value === "bigint") return `the bigint ${shortened(String(value))}n`;
  if (typeof value === "function") return functionKinds[Object.prototype.toString.call(value)] ?? "a function";
  if (!Array.isArray(value)) return typeof value === "object" && value !== null ? "an object" : String(value);
  if (depth > 1) return "a list";
  const entries = value.slice(0, mostEntries).map((entry) => formatValue(entry, depth + 1));
  return `[${[...entries, ...(value.length > mostEntries ? [`… ${value.length - mostEntries} more`] : [])].join(", ")}]`;
}

/** What was thrown may be anything, also what throws again. */
function reasonOf(thrown: unknown): string {
  try {
    return shortened(thrown instanceof Error ? thrown.message : formatValue(thrown));
  } catch {
    return "what it threw can't be read either";
  }
}

function isNumeral(text: string): boolean {
  return text.trim() !== "" && !Number.isNaN(Number(text));
}

function shortened(text: string): string {
  return text.length > mostLetters ? `${text.slice(0, mostLetters)}…` : text;
}
