import { mul, type Scalar, sum, type Tensor, tensor, tidy, type Variable, variable, variableGrads } from "@tensorflow/tfjs-core";
import { watchGradients } from "../autodiff/watch-gradients.js";
import type { Stage } from "../models/task.js";
import type { Channel } from "../rank/channel.js";
import type { Communicator } from "../rank/communicator.js";
import type { GradientReduction } from "../rank/gradient-reduction.js";
import type { Position } from "./parallel-layout.js";

/**
 * One rank's stage of a pipeline. A step goes through it in micro-batches, one forward and one backward in turn (1F1B): a stage
 * starts as many forwards as there are stages behind it, and then takes a backward after each.
 *
 * TensorFlow.js runs a forward and its backward in one call, and forgets what lies between. So a stage that isn't the last keeps
 * each micro-batch's input alone and computes its forward again, as activation checkpointing does.
 */
export class Pipeline {
  private readonly isFirst: boolean;
  private readonly isLast: boolean;
  private readonly variables: Variable[];

  /** @param records - of a micro-batch. */
  constructor(
    private readonly communicator: Communicator,
    private readonly position: Position,
    private readonly stage: Stage,
    private readonly microBatches: number,
    private readonly records: number,
  ) {
    this.isFirst = position.stage === 0;
    this.isLast = position.stage === position.pipeline.length - 1;
    this.variables = stage.parameters.map((parameter) => parameter.variable);
  }

  /**
   * Forward and backward of one step; the gradients go into the reduction.
   * @param batch - the rank's records; empty in stages between the first and the last.
   * @returns the mean loss in the last stage, undefined in others.
   */
  step(batch: Float32Array, reduction: GradientReduction): number | undefined {
    const { microBatches, position } = this;
    const ahead = Math.min(position.pipeline.length - 1 - position.stage, microBatches);
    const inputs: (Float32Array | undefined)[] = [];
    let loss = 0;
    const forward = (index: number): void => {
      inputs[index] = this.receiveInput(index);
      if (!this.isLast) this.sendOutput(index, this.part(batch, index), inputs[index]);
    };
    for (let index = 0; index < ahead; index += 1) forward(index);
    for (let index = 0; index < microBatches; index += 1) {
      if (index + ahead < microBatches) forward(index + ahead);
      reduction.isLastPass = index === microBatches - 1;
      loss += this.backward(index, this.part(batch, index), inputs[index], reduction);
      inputs[index] = undefined;
    }
    return this.isLast ? loss : undefined;
  }

  /** A forward pass of one micro-batch. @returns the share that is predicted right, in the last stage. */
  score(batch: Float32Array): number | undefined {
    const input = this.receiveInput(0);
    if (!this.isLast) {
      this.sendOutput(0, batch, input);
      return undefined;
    }
    return tidy(() => this.stage.accuracy(this.stage.forward(batch, this.records, this.asTensor(input)), batch, this.records));
  }

  private part(batch: Float32Array, index: number): Float32Array {
    const length = batch.length / this.microBatches;
    return batch.subarray(index * length, (index + 1) * length);
  }

  private backward(index: number, batch: Float32Array, input: Float32Array | undefined, reduction: GradientReduction): number {
    const { stage, records, microBatches } = this;
    return tidy(() => {
      // As a variable, the input gets its gradient from the same backward pass.
      const from = input === undefined ? undefined : variable(this.asTensor(input) ?? tensor([]));
      const dy = this.isLast ? undefined : tensor(this.exchange("backward", index, 1).run().slice(), stage.outputShape(records));
      const loss = (): Scalar => {
        const output = stage.forward(batch, records, from);
        if (dy !== undefined) return sum(mul(output, dy)) as Scalar;
        return mul(stage.loss(output, batch, records), 1 / microBatches) as Scalar;
      };
      const sought = from === undefined ? this.variables : [...this.variables, from];
      const { value, grads } = variableGrads(watchGradients(loss, this.variables, reduction), sought);
      if (from !== undefined) {
        const channel = this.exchange("backward", index, -1);
        channel.wait();
        channel.send.set(grads[from.name]?.dataSync<"float32">() ?? []);
        channel.start();
        from.dispose();
      }
      return value.dataSync()[0] ?? 0;
    });
  }

  private receiveInput(index: number): Float32Array | undefined {
    return this.isFirst ? undefined : this.exchange("forward", index, -1).run().slice();
  }

  private sendOutput(index: number, batch: Float32Array, input: Float32Array | undefined): void {
    const channel = this.exchange("forward", index, 1);
    // The step before may still be under way to a slow neighbour.
    channel.wait();
    tidy(() => channel.send.set(this.stage.forward(batch, this.records, this.asTensor(input)).dataSync<"float32">()));
    channel.start();
  }

  private asTensor(input: Float32Array | undefined): Tensor | undefined {
    return input === undefined ? undefined : tensor(input, this.stage.outputShape(this.records), "float32");
  }

  /** The channel to the next stage (1) or the one before (-1), one for each micro-batch. */
  private exchange(direction: "forward" | "backward", index: number, neighbour: 1 | -1): Channel {
    const { stage, pipeline } = this.position;
    const lower = neighbour === 1 ? stage : stage - 1;
    const ranks = [pipeline[lower] ?? 0, pipeline[lower + 1] ?? 0];
    const count = this.stage.outputShape(this.records).reduce((product, extent) => product * extent, 1);
    // Of the two, the lower stage sends forward, the higher one backward.
    const root = direction === "forward" ? 0 : 1;
    return this.communicator.channel({ name: `${direction} ${index} of ${this.records}`, collective: "send-recv", count, ranks, root });
  }
}
