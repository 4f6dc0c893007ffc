import { checkInteger, checkObject, readArgument } from "@dfccl/primitives";
import { mostRanks } from "../limits.js";
import type { ResolvedOp } from "./resolve-graph.js";

/** How many results an edge between operations may hold. */
export interface EdgeCounts {
  /** Registers of an identity buffer on the edge; none: no buffer. */
  readonly buffer?: number;
  /** Registers where the edge arrives, if it goes to other devices; default 1. */
  readonly arrival?: number;
}

export type CountEdge = (producer: ResolvedOp, consumer: ResolvedOp, stages: number) => EdgeCounts;

/**
 * OneFlow's counts: 2S where a stage's forward pass hands something to its backward pass, none in the last stage; 2S from the
 * first stage's input to the last stage; as many as stages lie between where a forward result arrives; 1 backward. From these
 * alone comes the order of one forward, one backward.
 * @param stages - from 1 to 65,536.
 * @throws {InvalidArgumentError} for what resolveGraph() doesn't return.
 */
export const pipelineCounts: CountEdge = (from, to, stages) => {
  const [producer, consumer] = [readEnd("producer", from), readEnd("consumer", to)];
  checkInteger("stages", stages, 1, mostRanks);
  // Aliases take no memory and have a register for each micro-batch.
  if (stages === 1 || producer.isInPlace) return {};
  const last = stages - 1;
  const distance = consumer.stage - producer.stage;
  if (distance === 0)
    return producer.pass === "forward" && consumer.pass === "backward" && producer.stage < last ? { buffer: 2 * stages } : {};
  if (producer.isInput && producer.stage === 0 && consumer.stage === last) return { buffer: 2 * stages };
  return { arrival: Math.max(1, distance) };
};

/** What counts of an edge go by. */
type EdgeEnd = Pick<ResolvedOp, "stage" | "pass"> & {
  readonly isInPlace: boolean;
  /** It takes nothing but the graph's own inputs and variables. */
  readonly isInput: boolean;
};

function readEnd(argument: string, op: ResolvedOp): EdgeEnd {
  const expected = "an operation that resolveGraph() returned";
  checkObject(argument, op, expected);
  const end = readArgument(argument, expected, () => ({
    stage: op.stage,
    pass: op.pass,
    isInPlace: op.definition.isInPlace === true,
    isInput: op.inputs.every(({ definition }) => definition.rhythm === "source"),
  }));
  checkInteger(`${argument}.stage`, end.stage, 0, mostRanks - 1);
  return end;
}
