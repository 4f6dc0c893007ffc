import { statSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { makeFolder } from "@dfccl/core";
import { type Command, InvalidArgumentError as InvalidOption, Option } from "commander";
import { tryToWrite } from "../outputs/try-to-write.js";

/** Parser of a whole number in a range, for commander. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === "" || !Number.isInteger(value) || value < least || value > most) {
      throw new InvalidOption(`It must be a whole number from ${least} to ${most}.`);
    }
    return value;
  };
}

/** Parser of a program to start and its arguments, for commander: where nothing is its name, nothing can be started. */
export function programAndArguments(word: string, before: readonly string[] = []): readonly string[] {
  if (before.length === 0 && word === "") throw new InvalidOption("Begin with the name of a program.");
  return [...before, word];
}

/** Parser of a number in a range, for commander. */
export function numberBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === "" || !(value >= least && value <= most)) {
      throw new InvalidOption(`It must be a number from ${least} to ${most}.`);
    }
    return value;
  };
}

/** Parser of a list with commas between its values, for commander. */
export function listOf<T>(parse: (text: string) => T): (text: string) => T[] {
  return (text) => text.split(",").map((part) => parse(part));
}

const units: Readonly<Record<string, number>> = { "": 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 };

/** Parser of a size in bytes, with K, M or G for powers of 1024, for commander. It holds whole float32 elements. */
export function byteSize(text: string): number {
  const [, digits = "", unit = ""] = /^(\d+)([KMG]?)$/.exec(text.trim()) ?? [];
  const bytes = digits === "" ? Number.NaN : Number(digits) * (units[unit] ?? Number.NaN);
  if (!(bytes >= 4 && bytes <= 2 ** 32) || bytes % 4 !== 0) {
    throw new InvalidOption("It must be bytes such as 8, 4K or 64M: a multiple of 4, up to 4G.");
  }
  return bytes;
}

/** The option --bytes: sizes with commas between. @param byDefault - such as "8,4K,64M"; shown as it is written. */
export function sizesOption(description: string, byDefault: string): Option {
  const parse = listOf(byteSize);
  return new Option("-b, --bytes <list>", description).argParser(parse).default(parse(byDefault), byDefault);
}

/** Parser of a file to write, for commander: it is refused before the work whose result it should take, not after it. */
export function outputFile(path: string): string {
  refuseDash(path, "file");
  if (path === "" || statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new InvalidOption("It must be a file.");
  try {
    tryToWrite(path);
  } catch {
    throw new InvalidOption(`Nothing can be written into ${dirname(path)}.`);
  }
  return path;
}

/** The same, of one of these formats: the name's ending says which. A name without one is taken, such as /dev/stdout. */
export function outputFileOf(...endings: readonly string[]): (path: string) => string {
  return (path) => {
    const ending = extname(path);
    if (ending !== "" && !endings.includes(ending)) {
      throw new InvalidOption(`It must end in ${endings.join(" or ")}: nothing is written as ${ending}.`);
    }
    return outputFile(path);
  };
}

/**
 * Ends a command that was given options which have no effect beside the others: whoever gave them believes that they have.
 * @param names - of properties of the flags.
 * @param why - a clause after the option's name, such as "is for --what chunks".
 */
export function refuseIdle(command: Command, names: readonly string[], why: string): void {
  for (const option of command.options) {
    const name = option.attributeName();
    if (names.includes(name) && command.getOptionValueSource(name) === "cli") command.error(`${option.long ?? option.short} ${why}.`);
  }
}

/** The same, or "-" for standard output. */
export function outputFileOrDash(path: string): string {
  return path === "-" ? path : outputFile(path);
}

/** Parser of a folder to write into, for commander; it is made where it isn't there. */
export function outputFolder(path: string): string {
  refuseDash(path, "folder");
  try {
    makeFolder(path);
    tryToWrite(join(path, `.dfccl-${process.pid}`));
  } catch {
    throw new InvalidOption(`It must be a folder that can be written into.`);
  }
  return path;
}

/** Whoever types a dash means standard output, which has a text for people there: they would look for what is in a file named "-". */
function refuseDash(path: string, what: "file" | "folder"): void {
  if (path === "-") throw new InvalidOption(`Standard output can't be the ${what}. Name one, or type ./- where it is to be named "-".`);
}

/** Ends a command that wants either a file or a preset, and got both or neither. @param what - the file is, such as "a workload file". */
export function requireFileOrPreset(command: Command, what: string, path: string | undefined, preset: string | undefined): void {
  if (path === undefined && preset === undefined) command.error(`Give ${what} or --preset.`);
  if (path !== undefined && preset !== undefined) command.error(`Give either ${path} or --preset ${preset}, not both.`);
}
