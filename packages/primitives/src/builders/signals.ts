import type { Step } from "../program.js";
import type { Builder } from "./builder.js";
import { awaitSignal, input, output, recv, send, signal } from "./step-factory.js";

/** The sender (the root) sends, the other rank receives. */
export const pointToPoint: Builder = {
  inPlace: true,
  outOfPlace: true,
  steps: ({ rank, root, chunk, to }) => [[rank === root ? send(input(chunk(0)), to(1 - root)) : recv(output(chunk(0)), to(root))]],
};

/** In round k, every rank signals the one 2^k further on: after log2 R rounds each has heard of all others. */
export const disseminationBarrier: Builder = {
  maxChannels: 1,
  inPlace: true,
  outOfPlace: true,
  steps: ({ rankCount, neighbour, to }) => {
    const steps: Step[] = [];
    for (let distance = 1; distance < rankCount; distance *= 2) {
      steps.push(signal(to(neighbour(distance))), awaitSignal(to(neighbour(-distance))));
    }
    return [steps];
  },
};
