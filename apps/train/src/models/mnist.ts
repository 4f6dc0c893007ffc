import {
  add,
  argMax,
  cast,
  conv2d,
  equal,
  logSumExp,
  matMul,
  maxPool,
  mean,
  mul,
  oneHot,
  relu,
  reshape,
  type Scalar,
  slice,
  sub,
  sum,
  type Tensor,
  type Tensor4D,
  tensor2d,
} from "@tensorflow/tfjs-core";
import { digitSide } from "../data/decode.js";
import { prepareDigits } from "../data/mnist-digits.js";
import { newParameter } from "./parameter.js";
import type { Stage, Task } from "./task.js";

const classes = 10;
const pixels = digitSide * digitSide;
const [filters1, filters2] = [8, 16];
// 28 → 24 → 12 → 8 → 4.
const features = 4 * 4 * filters2;

/** Handwritten digits by a small convolutional net. */
export const mnist: Task = {
  // Six epochs of the 8,000 digits.
  defaults: { steps: 2500, globalBatch: 32, learningRate: 0.004, optimizer: "adam" },
  divisible: { tp: 1, pp: 1 },
  prepare: prepareDigits,
  decoder: "digit",
  build: ({ seed }) => buildNet(seed),
};

function buildNet(seed: number): Stage {
  const weights = (name: string, shape: number[], inputs: number) => newParameter(name, shape, { seed, deviation: Math.sqrt(2 / inputs) });
  const bias = (name: string, count: number) => newParameter(name, [count], { constant: 0 });
  const conv1 = weights("conv1", [5, 5, 1, filters1], 25);
  const bias1 = bias("bias1", filters1);
  const conv2 = weights("conv2", [5, 5, filters1, filters2], 25 * filters1);
  const bias2 = bias("bias2", filters2);
  const dense = weights("dense", [features, classes], features);
  const bias3 = bias("bias3", classes);
  const layer = (x: Tensor, { variable: w }: typeof conv1, { variable: b }: typeof bias1): Tensor =>
    maxPool(relu(add(conv2d(x as Tensor4D, w as unknown as Tensor4D, 1, "valid"), b)) as Tensor4D, 2, 2, "valid");
  return {
    parameters: [conv1, bias1, conv2, bias2, dense, bias3],
    outputShape: (records) => [records, classes],
    forward(batch, records) {
      const rows = tensor2d(batch, [records, 1 + pixels]);
      const images = reshape(slice(rows, [0, 1], [records, pixels]), [records, digitSide, digitSide, 1]);
      const hidden = layer(layer(images, conv1, bias1), conv2, bias2);
      return add(matMul(reshape(hidden, [records, features]), dense.variable), bias3.variable);
    },
    loss(logits, batch, records) {
      const truth = cast(oneHot(labels(batch, records), classes), "float32");
      return mean(sub(logSumExp(logits, 1), sum(mul(logits, truth), 1))) as Scalar;
    },
    accuracy: (logits, batch, records) => mean(cast(equal(argMax(logits, 1), labels(batch, records)), "float32")).dataSync()[0] ?? 0,
  };
}

function labels(batch: Float32Array, records: number): Tensor {
  return cast(reshape(slice(tensor2d(batch, [records, 1 + pixels]), [0, 0], [records, 1]), [records]), "int32");
}
