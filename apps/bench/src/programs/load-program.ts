import { existsSync } from "node:fs";
import { basename, extname } from "node:path";
import {
  type CompiledProgram,
  compile,
  type DirectForm,
  isProgramDefinition,
  type ProgramDefinition,
  readXml,
  type Stages,
} from "@dfccl/compiler";
import { DfcclError, type Postcondition, type Program, type Protocol, postconditionOf, verifyProgram } from "@dfccl/primitives";
import { readText, whyNoFile } from "../inputs/read-text.js";
import type { BeginStage } from "../terminal/stages.js";
import { importFile } from "./import-file.js";
import { algorithmNames, namedAlgorithm, type RankShape } from "./named-algorithm.js";
import { inFile, ProgramFileError } from "./program-file-error.js";
import { parseVariant } from "./program-variant.js";
import { refuseExit } from "./refuse-exit.js";

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
  /** See ProgramOptions of @dfccl/compiler. */
  readonly direct?: DirectForm | undefined;
  /** Direct in phases. */
  readonly phases?: boolean | undefined;
  /** Of an algorithm that is named. */
  readonly ranks?: RankShape | undefined;
}

/**
 * Loads and compiles, or reads, a program: a file, or an algorithm's name, with or without a variant (see parseVariant). What is compiled is proven; an MSCCL file isn't yet.
 * @param begin - is told of each stage: large programs take minutes.
 * @throws {ProgramFileError} if there is none in the file.
 * @throws {DfcclError} for what is wrong with it.
 */
export async function loadProgram(text: string, options: LoadOptions = {}, begin: BeginStage = () => undefined): Promise<LoadedProgram> {
  const { path, label, channels, ...variant } = parseVariant(text);
  const extension = extname(path);
  if (extension === ".xml" || extension === ".json") {
    refuseChannels(path, channels);
    refuseChoices(path, { ...options, ...variant });
    begin(`Reading ${path}`);
    return extension === ".xml" ? loadXml(path) : loadJson(path);
  }
  const chosen = { ...options, ...(options.phases === true ? { direct: "in phases" as const } : {}), ...variant };
  const named = namedAlgorithm(path, options.ranks, channels);
  begin(named === undefined ? `Reading ${path}` : `Compiling and proving ${path}`);
  if (named !== undefined) return compileAs(named, label, chosen);
  // What defines a program is the file's own code, too.
  return refuseExit(path, async () => {
    const definition = await loadDefinition(path, options, channels);
    begin(`Compiling and proving ${path}`);
    return compileAs(definition, label, chosen);
  });
}

/** @param label - of the variant, or "". */
function compileAs(definition: ProgramDefinition, label: string, options: LoadOptions): LoadedProgram {
  const { instances = definition.instances, protocol = definition.protocol, direct = definition.direct } = options;
  const compiled = compile({ ...definition, instances, protocol, direct });
  return { ...compiled, name: label === "" ? compiled.name : `${compiled.name} (${label})`, compiled };
}

/** What has been compiled is as it is. */
function refuseChoices(path: string, options: LoadOptions): void {
  const names = ["export", "instances", "protocol", "direct", "phases", "ranks"] as const;
  const chosen = names.find((name) => options[name] !== undefined);
  if (chosen === undefined) return;
  throw new ProgramFileError(path, `it is compiled already, so --${chosen} comes too late`, "Leave that out, or give the source.");
}

function refuseChannels(path: string, channels: number | undefined): void {
  if (channels === undefined) return;
  throw new ProgramFileError(path, "it says itself over which channels it goes", `Leave :c${channels} out; ring-all-reduce takes it.`);
}

/** A colon and what isn't known behind it, after what is. */
function refuseVariant(path: string): void {
  const [program = "", unknown] = path.split(":");
  if (unknown === undefined || existsSync(path) || !(algorithmNames.includes(program) || existsSync(program))) return;
  const remedy = "Variants: :direct, :simple, :ll, :ll128, :x8 (instances), :c4 (channels of ring-all-reduce).";
  throw new ProgramFileError(program, `:${unknown} is no variant`, remedy);
}

function readProgramFile(path: string): string {
  return readText(path, (why, cause) => new ProgramFileError(path, why, "Look at the path.", cause));
}

function loadXml(path: string): LoadedProgram {
  const text = readProgramFile(path);
  const { name, program, minBytes, maxBytes } = inFile(path, () => readXml(text, { file: path }));
  return { name, program, minBytes, maxBytes, postcondition: postconditionOf(program) };
}

function loadJson(path: string): LoadedProgram {
  const text = readProgramFile(path);
  try {
    const program = JSON.parse(text) as Program | null;
    if (!Array.isArray(program?.ranks)) throw new SyntaxError("no ranks");
    inFile(path, () => verifyProgram(program));
    return { name: basename(path, ".json"), program, postcondition: postconditionOf(program) };
  } catch (error) {
    if (error instanceof DfcclError) throw error;
    const remedy = "Write it with dfccl compile PROGRAM -o FILE.json.";
    throw new ProgramFileError(path, "it holds no program", remedy, error);
  }
}

async function loadDefinition(
  path: string,
  { export: wanted, ranks }: LoadOptions,
  channels: number | undefined,
): Promise<ProgramDefinition> {
  refuseVariant(path);
  refuseChannels(path, channels);
  if (extname(path) === "" && !existsSync(path)) {
    throw new ProgramFileError(path, "there is no such file, and no algorithm of that name", `Algorithms: ${algorithmNames.join(", ")}.`);
  }
  const why = whyNoFile(path);
  if (why !== undefined) throw new ProgramFileError(path, why, why === "it is a folder" ? "Name the file in it." : "Look at the path.");
  if (ranks !== undefined) throw new ProgramFileError(path, "it says itself how many ranks it has", "Leave --ranks out.");
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
