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
 */
export const pipelineCounts: CountEdge = (producer, consumer, stages) => {
  // Aliases take no memory and have a register for each micro-batch.
  if (stages === 1 || producer.definition.isInPlace) return {};
  const last = stages - 1;
  const distance = consumer.stage - producer.stage;
  if (distance === 0)
    return producer.pass === "forward" && consumer.pass === "backward" && producer.stage < last ? { buffer: 2 * stages } : {};
  const isInput = producer.inputs.every(({ definition }) => definition.rhythm === "source");
  if (isInput && producer.stage === 0 && consumer.stage === last) return { buffer: 2 * stages };
  return { arrival: Math.max(1, distance) };
};
