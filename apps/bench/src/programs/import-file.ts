import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { DfcclError } from "@dfccl/primitives";
import { ProgramFileError } from "./program-file-error.js";

type Exports = Readonly<Record<string, unknown>>;

/**
 * The exports of a JavaScript or TypeScript module.
 * @throws {ProgramFileError} where it can't be loaded, or refuses itself.
 */
export async function importFile(path: string): Promise<Exports> {
  // So that errors name the line of the file, and not that of what was made of it.
  process.setSourceMapsEnabled(true);
  try {
    return await load(path);
  } catch (error) {
    if (error instanceof DfcclError) throw error;
    throw isOfAnotherCopy(error)
      ? new ProgramFileError(path, withoutRemedy(error), error.remedy, error)
      : new ProgramFileError(
          path,
          `it can't be loaded (${whyOf(error)})`,
          "Look at the path, and install what the file imports beside it.",
          error,
        );
  }
}

async function load(path: string): Promise<Exports> {
  const file = resolve(path);
  const url = pathToFileURL(file).href;
  // tsx is loaded only where it is needed, because that takes a while. Its import() of CommonJS loses exports and the lines of errors.
  if (isCommonJs(file)) {
    const exported = (await import("tsx/cjs/api")).require(file, import.meta.url) as Exports;
    return { default: exported, ...exported };
  }
  if (/\.m?js$/.test(file)) return (await import(url)) as Exports;
  return (await (await import("tsx/esm/api")).tsImport(url, import.meta.url)) as Exports;
}

/** What npm makes of a new folder: there, too, tsx lets modules be written with `import` and `export`. */
function isCommonJs(file: string): boolean {
  if (/\.[mc][jt]s$/.test(file)) return !/\.m[jt]s$/.test(file);
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (existsSync(manifest)) return (JSON.parse(readFileSync(manifest, "utf8")) as { type?: unknown }).type !== "module";
    if (folder === dirname(folder)) return true;
  }
}

/** The file has copies of our packages of its own, whose errors are no instances of ours. */
function isOfAnotherCopy(error: unknown): error is DfcclError {
  const { code, remedy } = (error ?? {}) as Partial<DfcclError>;
  return error instanceof Error && typeof code === "string" && typeof remedy === "string";
}

function whyOf(error: unknown): string {
  return textOf(error)
    .replace(/\nRequire stack:.*/s, "")
    .replace(/\.$/, "");
}

/** What was thrown may refuse to be text. */
function textOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return "what it throws can't be shown";
  }
}

function withoutRemedy({ message, remedy }: DfcclError): string {
  return message.replace(remedy, "").trim().replace(/\.$/, "");
}
