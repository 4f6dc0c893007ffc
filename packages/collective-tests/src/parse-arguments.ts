import { checkList, checkText, readPlain } from "@dfccl/primitives";
import { type CollectiveName, collectiveFacts } from "./collectives.js";
import { PerfError } from "./errors.js";
import { type OptionRow, optionTable } from "./option-table.js";
import { type PerfOptions, ranksOf } from "./options.js";
import { isDefinedForType } from "./type-names.js";

export type ParsedArguments = { readonly kind: "help" } | { readonly kind: "run"; readonly options: PerfOptions };

/**
 * Reads a command line as getopt_long does: -b8, -b 8, --minbytes 8, --minbytes=8, and any beginning of a long name that
 * only one option has.
 * @param args - without the program's name.
 * @param collective - whose program it is: operators mean nothing to one that combines nothing, and aren't looked at.
 * @throws {PerfError} BAD_ARGUMENT naming the option and what it expects.
 */
export function parseArguments(args: readonly string[], collective: CollectiveName = "all_reduce"): ParsedArguments {
  const { reduces } = collectiveFacts(collective);
  checkList("args", args, "a list of words");
  const rest = [...readPlain("args", args)];
  for (const word of rest) checkText("a word of args", word, "a text");
  const values: Record<string, unknown> = Object.fromEntries(optionTable.map(({ long, byDefault }) => [long, byDefault]));
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const { row, attached, isHelp } = findOption(word);
    if (isHelp) return { kind: "help" };
    const value = attached ?? rest.shift();
    if (value === undefined) throw bad(`${word} needs a value.`, `Type ${word} and then ${row.expects}.`);
    const parsed = row.parse(value);
    if (parsed === undefined) throw bad(`${word} can't be "${value}".`, `It must be ${row.expects}.`);
    values[row.long] = parsed;
  }
  // Every key of the table is there, each with the type that its row gives it.
  const options = values as unknown as PerfOptions;
  checkTogether(options);
  if (reduces) checkOperators(options);
  return { kind: "run", options };
}

interface Found {
  readonly row: OptionRow;
  readonly attached: string | undefined;
  readonly isHelp: boolean;
}

const help: OptionRow = { long: "op", value: "", meaning: "", byDefault: "", expects: "", parse: () => undefined };

function findOption(word: string): Found {
  if (word.startsWith("--")) {
    const [name = "", ...values] = word.slice(2).split("=");
    const attached = values.length > 0 ? values.join("=") : undefined;
    const exact = optionTable.find(({ long }) => long === name);
    const candidates = exact ? [exact] : optionTable.filter(({ long }) => name !== "" && long.startsWith(name));
    const mayBeHelp = name !== "" && "help".startsWith(name);
    if (mayBeHelp && candidates.length === 0) return { row: help, attached, isHelp: true };
    const [row, ...more] = candidates;
    if (row && more.length === 0 && !mayBeHelp) return { row, attached, isHelp: false };
    const could = candidates.map(({ long }) => `--${long}`).join(", ");
    throw bad(could ? `${word} may be ${could}.` : `There is no option ${word}.`, "-h lists all.");
  }
  if (!word.startsWith("-") || word.length < 2) throw bad(`"${word}" is no option.`, "-h lists all.");
  if (word[1] === "h") return { row: help, attached: undefined, isHelp: true };
  const row = optionTable.find(({ short }) => short === word[1]);
  if (row === undefined) throw bad(`There is no option -${word[1]}.`, "-h lists all.");
  return { row, attached: word.length > 2 ? word.slice(2) : undefined, isHelp: false };
}

function checkTogether(options: PerfOptions): void {
  const { minbytes, maxbytes, delay, root } = options;
  if (minbytes > maxbytes) {
    throw bad(`--minbytes ${minbytes} is more than --maxbytes ${maxbytes}.`, "Give a largest size that is no smaller than the smallest.");
  }
  if (options.per_iter_timing !== 0 && options.cudagraph !== 0) {
    throw bad("-I can't be combined with -G: a graph has no single iterations.", "Leave one of them out.");
  }
  const ranks = ranksOf(options);
  if (root >= ranks) throw bad(`--root ${root} is no rank: there are ${ranks}.`, "Give one from 0, or -1 for all.");
  if (delay && delay.rank >= ranks) throw bad(`--delay names rank ${delay.rank}: there are ${ranks}.`, "Give a rank from 0.");
}

function checkOperators({ op, datatype }: PerfOptions): void {
  for (const name of op) {
    if (datatype.some((type) => isDefinedForType(name, type))) continue;
    throw bad(
      `--op ${name} is for integers: --datatype ${datatype.join(", ")} has no bits of its own.`,
      "Give an integer type, such as -d int32.",
    );
  }
}

function bad(what: string, remedy: string): PerfError {
  return new PerfError("BAD_ARGUMENT", what, remedy);
}

/** The usage text of a program. */
export function usage(program: string): string {
  checkText("program", program, "its name");
  const lines = optionTable.map(({ short, long, value, meaning, byDefault }) => {
    const name = `${short ? `-${short},` : ""}--${long}`;
    const shown = value.length > 24 ? "name" : value;
    const is =
      byDefault === undefined || byDefault === "" ? "" : ` [${Array.isArray(byDefault) ? byDefault.join(",") : String(byDefault)}]`;
    return `        [${name} <${shown}>] ${meaning}${is}${value === shown ? "" : `: ${value}`}`;
  });
  return [`USAGE: ${program}`, ...lines, "        [-h,--help]", ""].join("\n");
}
