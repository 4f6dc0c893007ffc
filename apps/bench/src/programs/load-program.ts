import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type CompiledProgram, compile, isProgramDefinition, type ProgramDefinition, readXml, type Stages } from "@dfccl/compiler";
import { DfcclError, type Postcondition, type Program, type Protocol, postconditionOf } from "@dfccl/primitives";

/** A program from a file: written in the language, with everything that compiling it made, or an MSCCL file. */
export interface LoadedProgram {
  readonly name: string;
  readonly program: Program;
  readonly postcondition: Postcondition;
  /** Of a program of the language only. */
  readonly stages?: Stages;
  readonly compiled?: CompiledProgram;
  readonly minBytes?: number;
  readonly maxBytes?: number;
}

/** What the command line replaces of a definition. */
export interface LoadOptions {
  /** Name of the export; default: the default export, or the only one. */
  readonly export?: string | undefined;
  readonly instances?: number | undefined;
  readonly protocol?: Protocol | undefined;
}

/** There is no program in a file. */
export class ProgramFileError extends DfcclError {
  override readonly code = "PROGRAM_FILE";

  constructor(path: string, what: string, remedy: string, cause?: unknown) {
    super(`${path}: ${what}.`, { facts: { path }, remedy, ...(cause === undefined ? {} : { cause }) });
  }
}

/**
 * Loads and compiles, or reads, a program. What is compiled is proven; an MSCCL file isn't yet.
 * @throws {ProgramFileError} if there is none in the file.
 * @throws {DfcclError} for what is wrong with it.
 */
export async function loadProgram(path: string, options: LoadOptions = {}): Promise<LoadedProgram> {
  if (extname(path) === ".xml") return loadXml(path);
  const definition = await loadDefinition(path, options.export);
  const { instances = definition.instances, protocol = definition.protocol } = options;
  const compiled = compile({ ...definition, instances, protocol });
  return { ...compiled, compiled };
}

async function loadXml(path: string): Promise<LoadedProgram> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new ProgramFileError(path, "it can't be read", "Look at the path.", error);
  }
  const { name, program, minBytes, maxBytes } = readXml(text);
  return { name, program, minBytes, maxBytes, postcondition: postconditionOf(program) };
}

async function loadDefinition(path: string, wanted: string | undefined): Promise<ProgramDefinition> {
  const module = await importFile(path);
  const found = Object.entries(module).filter(([, value]) => isProgramDefinition(value));
  const named =
    found.find(([name]) => name === (wanted ?? "default")) ?? (wanted === undefined && found.length === 1 ? found[0] : undefined);
  const definition: unknown = named?.[1];
  if (isProgramDefinition(definition)) return definition;
  const names = found.map(([name]) => name);
  if (names.length === 0)
    throw new ProgramFileError(path, "it exports no program", "Export what defineProgram() of @dfccl/compiler returns.");
  throw new ProgramFileError(
    path,
    wanted === undefined ? "it exports several programs" : `it exports no program ${wanted}`,
    `Choose with --export: ${names.join(", ")}.`,
  );
}

async function importFile(path: string): Promise<Readonly<Record<string, unknown>>> {
  // So that errors name the line of the file, and not that of what was made of it.
  process.setSourceMapsEnabled(true);
  const url = pathToFileURL(resolve(path)).href;
  try {
    if (/\.[mc]?js$/.test(path)) return (await import(url)) as Record<string, unknown>;
    // Loaded only here, because that takes a while.
    const { tsImport } = await import("tsx/esm/api");
    return (await tsImport(url, import.meta.url)) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof DfcclError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new ProgramFileError(
      path,
      `it can't be loaded (${why})`,
      "Look at the path, and install what the file imports beside it.",
      error,
    );
  }
}
