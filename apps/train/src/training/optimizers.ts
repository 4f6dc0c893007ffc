import { type Optimizer, train } from "@tensorflow/tfjs-core";

const optimizers = {
  sgd: (learningRate: number) => train.sgd(learningRate),
  momentum: (learningRate: number) => train.momentum(learningRate, 0.9),
  adam: (learningRate: number) => train.adam(learningRate),
} satisfies Record<string, (learningRate: number) => Optimizer>;

/** TensorFlow.js's, by name. */
export type OptimizerName = keyof typeof optimizers;

export const optimizerNames = Object.keys(optimizers) as readonly OptimizerName[];

export function newOptimizer(name: OptimizerName, learningRate: number): Optimizer {
  return optimizers[name](learningRate);
}
