import type { Step } from "../program.js";
import type { Builder, LaneContext } from "./builder.js";
import { copy, input, output, recv, recvCopySend, recvReduceCopy, recvReduceCopySend, recvReduceSend, send } from "./step-factory.js";

// Every rank talks to its two neighbours only: it receives from the previous and sends to the next. Bandwidth is the
// best possible, latency grows with the number of ranks. A rank passes a chunk on while it waits for the next one, so
// at least two slots are needed.

/** Chunk r of the ring is reduced on its way round, ends complete on the rank before r, and goes round once more. */
export const ringAllReduce: Builder = {
  chunksPerLane: (rankCount) => rankCount,
  inPlace: true,
  outOfPlace: true,
  steps: (context) => {
    const { rankCount, previous, next } = ring(context);
    const at = (distance: number): number => context.chunk(context.neighbour(distance));
    const steps: Step[] = [send(input(at(0)), next)];
    for (let hop = 1; hop < rankCount - 1; hop += 1) steps.push(recvReduceSend(input(at(-hop)), previous, next));
    steps.push(recvReduceCopySend(output(at(1)), input(at(1)), previous, next));
    for (let hop = 0; hop < rankCount - 2; hop += 1) steps.push(recvCopySend(output(at(-hop)), previous, next));
    steps.push(recv(output(at(2)), previous));
    return [steps];
  },
};

/** Every rank's segment goes round once. */
export const ringAllGather: Builder = {
  inPlace: true,
  outOfPlace: true,
  steps: (context) => {
    const { rankCount, previous, next } = ring(context);
    const own = input(context.chunk(0));
    const at = (distance: number): number => context.chunk(0, context.neighbour(distance));
    const steps: Step[] = [send(own, next), copy(output(at(0)), own)];
    for (let hop = 1; hop < rankCount - 1; hop += 1) steps.push(recvCopySend(output(at(-hop)), previous, next));
    steps.push(recv(output(at(1)), previous));
    return [steps];
  },
};

/** The segment for rank r starts at the rank after r, collects every rank's share, and ends at r. */
export const ringReduceScatter: Builder = {
  inPlace: true,
  outOfPlace: true,
  steps: (context) => {
    const { rankCount, previous, next } = ring(context);
    const at = (distance: number): number => context.chunk(0, context.neighbour(distance));
    const steps: Step[] = [send(input(at(-1)), next)];
    for (let hop = 2; hop < rankCount; hop += 1) steps.push(recvReduceSend(input(at(-hop)), previous, next));
    steps.push(recvReduceCopy(output(context.chunk(0)), input(at(0)), previous));
    return [steps];
  },
};

/** A chain that starts behind the root and ends at it. */
export const ringReduce: Builder = {
  inPlace: true,
  outOfPlace: true,
  steps: (context) => {
    const { previous, next } = ring(context);
    const own = input(context.chunk(0));
    const distanceFromRoot = context.neighbour(-context.root);
    if (distanceFromRoot === 0) return [[recvReduceCopy(output(context.chunk(0)), own, previous)]];
    if (distanceFromRoot === 1) return [[send(own, next)]];
    return [[recvReduceSend(own, previous, next)]];
  },
};

/** A chain that starts at the root. */
export const ringBroadcast: Builder = {
  inPlace: true,
  outOfPlace: true,
  steps: (context) => {
    const { rankCount, previous, next } = ring(context);
    const result = output(context.chunk(0));
    const distanceFromRoot = context.neighbour(-context.root);
    if (distanceFromRoot === 0) return [[send(input(context.chunk(0)), next), copy(result, input(context.chunk(0)))]];
    if (distanceFromRoot === rankCount - 1) return [[recv(result, previous)]];
    return [[recvCopySend(result, previous, next)]];
  },
};

function ring(context: LaneContext) {
  return {
    rankCount: context.rankCount,
    previous: context.to(context.neighbour(-1)),
    next: context.to(context.neighbour(1)),
  };
}
