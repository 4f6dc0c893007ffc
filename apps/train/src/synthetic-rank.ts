// One rank that has a model's gradients, and no model: what trainSynthetic() runs in each rank's thread.
import type { Communicator } from "./rank/communicator.js";

export interface SyntheticArgs {
  readonly tensors: readonly { readonly name: string; readonly elements: number }[];
  readonly steps: number;
}

/** @returns how many averages were wrong; the first and the last number of each is looked at. */
export default function syntheticRank(communicator: Communicator, { tensors, steps }: SyntheticArgs): number {
  const gradients = tensors.map(({ name, elements }, i) => ({ name, elements, priority: tensors.length - i }));
  const channels = communicator.gradients({ name: "synthetic", gradients });
  let wrong = 0;
  for (let step = 0; step < steps; step += 1) {
    // As a backward pass has them: the last layer's first.
    for (const channel of channels.toReversed()) {
      channel.send.fill(step + communicator.rank);
      channel.start();
    }
    const average = step + (communicator.size - 1) / 2;
    for (const channel of channels) {
      channel.wait();
      if (channel.recv[0] !== average || channel.recv.at(-1) !== average) wrong += 1;
    }
    communicator.report(step);
  }
  return wrong;
}
