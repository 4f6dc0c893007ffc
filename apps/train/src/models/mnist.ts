import {
  argMax,
  cast,
  equal,
  mean,
  oneHot,
  reshape,
  type Scalar,
  slice,
  type Tensor,
  tensor2d,
  tidy,
  type Variable,
} from "@tensorflow/tfjs-core";
import { initializers, layers, metrics, sequential } from "@tensorflow/tfjs-layers";
import { digitSide, prepareDigits } from "../data/mnist-digits.js";
import type { Model, Task } from "./task.js";

const classes = 10;
const pixels = digitSide * digitSide;

/** Handwritten digits by a small convolutional net. */
export const mnist: Task = {
  // Three epochs of the 8,000 digits.
  defaults: { steps: 750, globalBatch: 32, learningRate: 0.03 },
  prepare: prepareDigits,
  decode(record, into) {
    into[0] = record[0] ?? 0;
    for (let i = 1; i <= pixels; i += 1) into[i] = (record[i] ?? 0) / 255;
  },
  build,
};

function build(seed: number): Model {
  const kernelInitializer = (layer: number) => initializers.glorotUniform({ seed: seed + layer });
  const net = sequential({
    layers: [
      layers.conv2d({
        inputShape: [digitSide, digitSide, 1],
        filters: 8,
        kernelSize: 5,
        activation: "relu",
        kernelInitializer: kernelInitializer(1),
      }),
      layers.maxPooling2d({ poolSize: 2 }),
      layers.conv2d({ filters: 16, kernelSize: 5, activation: "relu", kernelInitializer: kernelInitializer(2) }),
      layers.maxPooling2d({ poolSize: 2 }),
      layers.flatten(),
      layers.dense({ units: classes, activation: "softmax", kernelInitializer: kernelInitializer(3) }),
    ],
  });
  const split = (batch: Float32Array, records: number): { images: Tensor; labels: Tensor } => {
    const rows = tensor2d(batch, [records, 1 + pixels]);
    const labels = reshape(slice(rows, [0, 0], [records, 1]), [records]);
    return { images: reshape(slice(rows, [0, 1], [records, pixels]), [records, digitSide, digitSide, 1]), labels };
  };
  return {
    variables: net.trainableWeights.map((weight) => weight.read() as Variable),
    loss(batch, records) {
      const { images, labels } = split(batch, records);
      const truth = cast(oneHot(cast(labels, "int32"), classes), "float32");
      return mean(metrics.categoricalCrossentropy(truth, net.apply(images, { training: true }) as Tensor)) as Scalar;
    },
    accuracy: (batch, records) =>
      tidy(() => {
        const { images, labels } = split(batch, records);
        const predicted = argMax(net.apply(images) as Tensor, 1);
        return mean(cast(equal(predicted, cast(labels, "int32")), "float32")).dataSync()[0] ?? 0;
      }),
  };
}
