import { checkFunction, checkInteger } from "@dfccl/primitives";
import { mostPasses, mostRanks } from "../limits.js";
import { readFields } from "../read-fields.js";

/** Register counts of a pipeline's stages, which are all that orders it. */
export interface PipelineCounts {
  /** Of a stage's forward results; both the next stage and its own backward pass read them. */
  readonly forward: (stage: number) => number;
  /** Of the buffer between a stage's forward and backward pass; 0: none, the backward pass reads the forward result itself. */
  readonly buffer: (stage: number) => number;
  /** Of what arrives at the next stage. */
  readonly arrival: number;
  /** Forward results that the last stage packs before the first backward pass; default 1. More registers than that must lie beside it. */
  readonly packed?: number;
}

/**
 * OneFlow's: 2S between the passes, none in the last stage, 1 elsewhere.
 * @param stages - from 1 to 65,536.
 * @throws {InvalidArgumentError}
 */
export function oneFlowCounts(stages: number): PipelineCounts {
  checkStages(stages);
  return { forward: () => 1, buffer: (stage) => (stage < stages - 1 ? 2 * stages : 0), arrival: 1 };
}

/**
 * The least that keeps all stages busy: stage s has S − s results outstanding. The classical one forward, one backward.
 * @param stages - from 1 to 65,536.
 * @throws {InvalidArgumentError}
 */
export function leastCounts(stages: number): PipelineCounts {
  checkStages(stages);
  return { forward: () => 1, buffer: (stage) => stages - 1 - stage, arrival: 1 };
}

/**
 * Everything packed in the last stage, and room for it in every stage: all forward passes go before the first backward one, as in GPipe.
 * @param microBatches - from 1 to 2^22.
 * @throws {InvalidArgumentError}
 */
export function gpipeCounts(microBatches: number): PipelineCounts {
  checkMicroBatches(microBatches, 1);
  return { forward: () => 1, buffer: () => microBatches, arrival: 1, packed: microBatches };
}

/** @throws {InvalidArgumentError} for what is no number of stages. */
export function checkStages(stages: number): void {
  checkInteger("stages", stages, 1, mostRanks);
}

/** @throws {InvalidArgumentError} for what is no number of micro-batches, or more than so many stages may work on. */
export function checkMicroBatches(microBatches: number, stages: number): void {
  checkInteger("microBatches", microBatches, 1, Math.floor(mostPasses / stages));
}

/** Counts as they are now; the numbers themselves are looked at with the plan. @throws {InvalidArgumentError} */
export function readCounts(counts: PipelineCounts): PipelineCounts {
  const names = { forward: true, buffer: true, arrival: true, packed: true } as const;
  const read = readFields("counts", counts, names, "what oneFlowCounts(stages) returns, or counts like it");
  checkFunction("counts.forward", read.forward, "a function of the stage");
  checkFunction("counts.buffer", read.buffer, "a function of the stage");
  return read;
}
