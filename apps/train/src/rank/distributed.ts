import { checkText, InvalidArgumentError, type OptionNames, readArgument } from "@dfccl/primitives";
import { engine, type NamedTensorMap, Optimizer, type Scalar, type Variable, variableGrads } from "@tensorflow/tfjs-core";
import { watchGradients } from "../autodiff/watch-gradients.js";
import { readOptions, readRanks } from "../read-options.js";
import type { Channel } from "./channel.js";
import { Communicator } from "./communicator.js";
import { byName, GradientReduction } from "./gradient-reduction.js";
import { assign } from "./variable-values.js";

/** TensorFlow.js's own, which it doesn't export. */
export type NamedTensor = Exclude<Parameters<Optimizer["applyGradients"]>[0], NamedTensorMap>[number];

export interface DistributedOptions {
  /** Ranks that hold the same variables and see different data; default all. */
  readonly ranks?: readonly number[];
  /** Tells these collectives from others on the same ranks, where a program has several optimizers. Default "gradients". */
  readonly name?: string;
  /** Start from the variables of the group's first rank, however the others were initialized. Default true. */
  readonly broadcast?: boolean;
}

const optionNames: OptionNames<DistributedOptions> = { ranks: true, name: true, broadcast: true };
const anOptimizer = "an optimizer of @tensorflow/tfjs-core, such as train.sgd(0.1)";
const aCommunicator = "the communicator that the rank's program is given";

/**
 * Makes an optimizer of TensorFlow.js train on all ranks: each gradient becomes its average over the ranks, and its reduction
 * starts as soon as the backward pass has computed it, while the pass goes on. Gradients of the layers needed first in the next
 * step are the most urgent. No order has to be kept among the ranks.
 *
 * Use the result as any other optimizer: `minimize`, or `model.compile` and `model.fit`. The ranks take the same number of
 * steps. A variable that the loss of this rank doesn't depend on contributes zeros.
 * @throws {InvalidArgumentError}, UnknownOptionError
 */
export function distributed(optimizer: Optimizer, communicator: Communicator, options: DistributedOptions = {}): DistributedOptimizer {
  if (!readArgument("optimizer", anOptimizer, () => optimizer instanceof Optimizer))
    throw new InvalidArgumentError("optimizer", optimizer, anOptimizer);
  if (!readArgument("communicator", aCommunicator, () => communicator instanceof Communicator))
    throw new InvalidArgumentError("communicator", communicator, aCommunicator);
  const read = readOptions(options, optionNames, 'an object such as { name: "gradients" }');
  if (read.ranks !== undefined) readRanks(read.ranks, communicator.size);
  if (read.name !== undefined) checkText("name", read.name, "a name");
  return new DistributedOptimizer(optimizer, communicator, read);
}

/** Made by {@link distributed}. */
export class DistributedOptimizer extends Optimizer {
  private readonly lists: Trained[] = [];

  /** @internal */
  constructor(
    readonly inner: Optimizer,
    private readonly communicator: Communicator,
    private readonly options: DistributedOptions,
  ) {
    super();
  }

  override computeGradients(loss: () => Scalar, varList?: Variable[]): { value: Scalar; grads: NamedTensorMap } {
    const variables = varList ?? trainableVariables();
    const { channels } = this.lists.find((list) => areSame(list.variables, variables)) ?? this.prepare(variables);
    const reduced = new GradientReduction(channels);
    const { value, grads } = variableGrads(watchGradients(loss, variables, reduced), [...variables]);
    for (const gradient of Object.values(grads)) gradient.dispose();
    return { value, grads: byName(reduced.collect(variables)) };
  }

  override applyGradients(gradients: NamedTensorMap | NamedTensor[]): void {
    this.inner.applyGradients(gradients);
  }

  override getWeights(): Promise<NamedTensor[]> {
    return this.inner.getWeights();
  }

  override setWeights(weights: NamedTensor[]): Promise<void> {
    return this.inner.setWeights(weights);
  }

  override getConfig(): ReturnType<Optimizer["getConfig"]> {
    return this.inner.getConfig();
  }

  override getClassName(): string {
    return this.inner.getClassName();
  }

  override dispose(): void {
    this.inner.dispose();
  }

  /** In the first step with these variables: registers a reduction for each, and makes the ranks start alike. */
  private prepare(variables: readonly Variable[]): Trained {
    const { name = "gradients", ranks, broadcast = true } = this.options;
    // The ranks come to their lists in the same order.
    const listName = this.lists.length === 0 ? name : `${name} of list ${this.lists.length}`;
    const channels = this.communicator.gradients({
      name: listName,
      ranks,
      gradients: variables.map((variable, index) => ({
        name: variable.name,
        elements: variable.size,
        // Variables come in the order of the layers; a larger number is more urgent.
        priority: variables.length - index,
      })),
    });
    const known = new Set(this.lists.flatMap((list) => list.variables));
    const list = { variables: [...variables], channels };
    this.lists.push(list);
    if (broadcast)
      this.startAlike(
        listName,
        variables.filter((variable) => !known.has(variable)),
      );
    return list;
  }

  private startAlike(name: string, variables: readonly Variable[]): void {
    const { ranks } = this.options;
    const copies = variables.map((variable, index) => {
      const channel = this.communicator.channel({ name: `${name} start ${index}`, collective: "broadcast", count: variable.size, ranks });
      channel.send.set(variable.dataSync<"float32">());
      channel.start();
      return channel;
    });
    for (const [index, variable] of variables.entries()) {
      const channel = copies[index];
      channel?.wait();
      if (channel !== undefined) assign(variable, channel.recv);
    }
  }
}

/** Variables that steps were taken with, and what averages their gradients. */
interface Trained {
  readonly variables: readonly Variable[];
  readonly channels: readonly Channel[];
}

function areSame(some: readonly Variable[], others: readonly Variable[]): boolean {
  return some.length === others.length && some.every((variable, i) => variable === others[i]);
}

function trainableVariables(): Variable[] {
  const { registeredVariables } = engine() as unknown as { registeredVariables: Readonly<Record<string, Variable>> };
  return Object.values(registeredVariables).filter(({ trainable }) => trainable);
}
