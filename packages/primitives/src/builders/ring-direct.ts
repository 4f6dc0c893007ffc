import type { RecvEnd, SendEnd, Step } from "../program.js";
import type { Builder, LaneContext } from "./builder.js";
import { copy, input, output, recv, recvCopySend, recvReduceCopySend, recvReduceSend, send } from "./step-factory.js";

// Rings that write results straight into the next rank's output; their connections then carry flags only. Partial sums
// still go through slots, since nobody has a place for them.

export const directRingAllReduce: Builder = {
  chunksPerLane: (rankCount) => rankCount,
  inPlace: true,
  outOfPlace: true,
  usesDirect: true,
  steps: (context) => {
    const { rankCount, neighbour } = context;
    const at = (distance: number): number => context.chunk(neighbour(distance));
    const { previous, next } = ring(context);
    const steps: Step[] = [send(input(at(0)), next)];
    for (let hop = 1; hop < rankCount - 1; hop += 1) steps.push(recvReduceSend(input(at(-hop)), previous, next));
    steps.push(recvReduceCopySend(output(at(1)), input(at(1)), previous, directly(next, at(1))));
    for (let hop = 0; hop < rankCount - 2; hop += 1) {
      steps.push(recvCopySend(output(at(-hop)), landed(previous, at(-hop)), directly(next, at(-hop))));
    }
    steps.push(recv(output(at(2)), landed(previous, at(2))));
    return [steps];
  },
};

export const directRingAllGather: Builder = {
  inPlace: true,
  outOfPlace: true,
  usesDirect: true,
  steps: (context) => {
    const { rankCount, neighbour } = context;
    const at = (distance: number): number => context.chunk(0, neighbour(distance));
    const own = input(context.chunk(0));
    const { previous, next } = ring(context);
    const steps: Step[] = [send(own, directly(next, at(0))), copy(output(at(0)), own)];
    for (let hop = 1; hop < rankCount - 1; hop += 1) {
      steps.push(recvCopySend(output(at(-hop)), landed(previous, at(-hop)), directly(next, at(-hop))));
    }
    steps.push(recv(output(at(1)), landed(previous, at(1))));
    return [steps];
  },
};

export const directRingBroadcast: Builder = {
  inPlace: true,
  outOfPlace: true,
  usesDirect: true,
  steps: (context) => {
    const { rankCount, root, neighbour } = context;
    const chunk = context.chunk(0);
    const { previous, next } = ring(context);
    const distanceFromRoot = neighbour(-root);
    if (distanceFromRoot === 0) return [[send(input(chunk), directly(next, chunk)), copy(output(chunk), input(chunk))]];
    if (distanceFromRoot === rankCount - 1) return [[recv(output(chunk), landed(previous, chunk))]];
    return [[recvCopySend(output(chunk), landed(previous, chunk), directly(next, chunk))]];
  },
};

function ring({ to, neighbour }: LaneContext) {
  return { previous: to(neighbour(-1)), next: to(neighbour(1)) };
}

function directly(end: SendEnd, chunk: number): SendEnd {
  return { ...end, remote: output(chunk) };
}

function landed(end: RecvEnd, chunk: number): RecvEnd {
  return { ...end, landing: output(chunk) };
}
