import { type NamedTensorMap, type Tensor, tensor, type Variable } from "@tensorflow/tfjs-core";
import type { GradientWatcher } from "../autodiff/watch-gradients.js";
import type { Channel } from "./channel.js";

/** One step's gradients on their way: from the backward pass into shared memory, and back as averages. */
export class GradientReduction implements GradientWatcher {
  /** False while more backward passes of the same step follow: their gradients are added up first. */
  isLastPass = true;
  private readonly begun: boolean[] = [];

  /** @param channels - one a variable. */
  constructor(private readonly channels: readonly Channel[]) {}

  onContribution(index: number, part: Tensor, isLast: boolean): void {
    const channel = this.channels[index];
    if (channel === undefined) return;
    const values = part.dataSync<"float32">();
    if (this.begun[index]) add(channel.send, values);
    else channel.send.set(values);
    this.begun[index] = true;
    if (isLast && this.isLastPass) channel.start();
  }

  onUnused(index: number): void {
    if (!this.begun[index]) this.channels[index]?.send.fill(0);
    this.begun[index] = true;
    if (this.isLastPass) this.channels[index]?.start();
  }

  /** The averages, in the order of the variables; blocks until they are there. */
  collect(variables: readonly Variable[]): { readonly name: string; readonly tensor: Tensor }[] {
    return variables.flatMap(({ name, shape }, index) => {
      const channel = this.channels[index];
      if (channel === undefined) return [];
      channel.wait();
      return [{ name, tensor: tensor(channel.recv.slice(), shape, "float32") }];
    });
  }
}

/** As TensorFlow.js returns gradients. */
export function byName(gradients: readonly { readonly name: string; readonly tensor: Tensor }[]): NamedTensorMap {
  return Object.fromEntries(gradients.map(({ name, tensor: gradient }) => [name, gradient]));
}

function add(sum: Float32Array, values: Float32Array): void {
  for (let i = 0; i < sum.length; i += 1) sum[i] = (sum[i] ?? 0) + (values[i] ?? 0);
}
