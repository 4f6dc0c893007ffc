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

/** The rate of a step: it falls evenly to nothing at the end of the run, so that the last steps settle. */
export function rateAt(step: number, steps: number, learningRate: number): number {
  return learningRate * (1 - step / steps);
}

/** Sets the rate of an optimizer of {@link newOptimizer}. */
export function setRate(optimizer: Optimizer, rate: number): void {
  // TensorFlow.js's sgd and momentum keep it in a tensor, and have a way to set it; adam reads a field in every step.
  const { setLearningRate } = optimizer as { setLearningRate?: (value: number) => void };
  if (setLearningRate !== undefined) setLearningRate.call(optimizer, rate);
  else (optimizer as unknown as { learningRate: number }).learningRate = rate;
}
