import { checkObject } from "./check-object.js";
import { DfcclError } from "./errors.js";
import { readArgument } from "./read-argument.js";

/** Names of all options of a function; `true` each, so that the compiler sees to it that none is left out. */
export type OptionNames<T> = Readonly<Record<keyof T, true>>;

/** An option that the function doesn't have. `facts.nearest` is the one whose name is most like it, if any is. */
export class UnknownOptionError extends DfcclError {
  override readonly code = "UNKNOWN_OPTION";

  constructor(option: string, known: readonly string[]) {
    super(
      () => `${option} is not an option here.`,
      () => {
        const nearest = nearestName(option, known);
        const remedy = nearest === undefined ? `There are ${known.join(", ")}.` : `Write ${nearest}, or leave it out.`;
        return { facts: { option, nearest, known }, remedy };
      },
    );
  }
}

/**
 * Refuses what isn't an object, options that nobody reads (a misspelt one would have no effect, and nobody would know), and what
 * throws when it is read.
 * @param argument - what the options are called: "options" or, of options within options, their name.
 * @param example - for what isn't an object: "an object such as { … }".
 * @throws {InvalidArgumentError}, {@link UnknownOptionError}
 */
export function checkOptions<T extends object>(argument: string, options: T, known: OptionNames<T>, example: string): void {
  checkObject(argument, options, example);
  const names = readArgument(argument, example, () => namesOf(options));
  for (const name of names) {
    const full = argument === "options" ? name : `${argument}.${name}`;
    if (!Object.hasOwn(known, name)) throw new UnknownOptionError(full, Object.keys(known));
    readArgument(full, "a value that can be read", () => options[name as keyof T]);
  }
}

/** Those that it inherits, too. */
function namesOf(options: object): readonly string[] {
  const names: string[] = [];
  for (const name in options) names.push(name);
  return names;
}

/** The name that is most like what was written: one begins with the other, or at least half of the letters are right. */
function nearestName(written: string, names: readonly string[]): string | undefined {
  const own = written.slice(written.lastIndexOf(".") + 1).toLowerCase();
  const ranked = names
    .map((name) => {
      const other = name.toLowerCase();
      const isBeginning = Math.min(own.length, other.length) > 2 && (other.startsWith(own) || own.startsWith(other));
      return { name, share: isBeginning ? 0 : editDistance(own, other) / Math.max(own.length, other.length) };
    })
    .sort((a, b) => a.share - b.share);
  const [best] = ranked;
  return best !== undefined && best.share <= 0.5 ? best.name : undefined;
}

/** How many letters to insert, delete or replace. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
