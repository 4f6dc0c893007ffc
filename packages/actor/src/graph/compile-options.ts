import { checkFunction, checkInteger, checkOptions, InvalidArgumentError, type OptionNames, readArgument } from "@dfccl/primitives";
import { checkMethods, readEntries, readFields } from "../read-fields.js";
import type { Box } from "../sbp/box.js";
import type { CollectiveLibrary } from "./collectives.js";
import type { CountEdge } from "./pipeline-counts.js";

export interface CompileOptions {
  /** How often the whole graph runs, from 0. */
  readonly steps: number;
  readonly collectives: CollectiveLibrary;
  /** The whole tensor of each `input`, by name and step. */
  readonly feeds: Readonly<Record<string, (step: number) => Float32Array>>;
  /** The whole tensor that each `variable` begins with, by name. It is copied. */
  readonly initial: Readonly<Record<string, Float32Array>>;
  /** Gets what each `output` takes: a rank's part of its `record`-th result. The memory is lent for the call. */
  readonly onOutput?: (output: {
    readonly name: string;
    readonly record: number;
    readonly rank: number;
    readonly box: Box;
    readonly data: Float32Array;
  }) => void;
  /** Registers of edges; default OneFlow's for pipelines. */
  readonly counts?: CountEdge;
  /** Ids of collectives count from here; default 0. */
  readonly firstCollectiveId?: number;
}

const optionNames: OptionNames<CompileOptions> = {
  steps: true,
  collectives: true,
  feeds: true,
  initial: true,
  onOutput: true,
  counts: true,
  firstCollectiveId: true,
};

/** Options as they are now. @throws {InvalidArgumentError}, UnknownOptionError */
export function readCompileOptions(options: CompileOptions): CompileOptions {
  const example = "an object such as { steps: 1, collectives, feeds: {}, initial: {} }";
  checkOptions("options", options, optionNames, example);
  const read = readFields("options", options, optionNames, example);
  const { steps, collectives, onOutput, counts, firstCollectiveId = 0 } = read;
  checkInteger("steps", steps, 0);
  checkInteger("firstCollectiveId", firstCollectiveId, 0);
  checkMethods("collectives", collectives, ["open"], "what coreCollectives(world) returns, or one like it");
  if (onOutput !== undefined) checkFunction("onOutput", onOutput, "a function");
  if (counts !== undefined) checkFunction("counts", counts, "a function such as pipelineCounts");
  return { ...read, feeds: readFeeds(read.feeds), initial: readInitial(read.initial) };
}

function readFeeds(given: CompileOptions["feeds"]): CompileOptions["feeds"] {
  const feeds = readEntries("feeds", given, "an object such as { x: (step) => data }");
  for (const [name, feed] of Object.entries(feeds)) checkFunction(`feeds.${name}`, feed, "a function of the step");
  return feeds;
}

function readInitial(given: CompileOptions["initial"]): CompileOptions["initial"] {
  const initial = readEntries("initial", given, "an object such as { w: data }");
  for (const [name, data] of Object.entries(initial)) {
    const isData = readArgument(`initial.${name}`, "a Float32Array", () => data instanceof Float32Array);
    if (!isData) throw new InvalidArgumentError(`initial.${name}`, data, "a Float32Array");
  }
  return initial;
}
