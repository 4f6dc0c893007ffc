// Data-parallel training with TensorFlow.js on two ranks. One line makes it distributed: the one that wraps the optimizer.
import { readFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import { type Communicator, distributed, prepareDigits, runRanks, useTensorFlow } from "@dfccl/train";
import { oneHot, type Tensor, tensor1d, tensor4d, train } from "@tensorflow/tfjs-core";
import { layers, sequential } from "@tensorflow/tfjs-layers";

const batch = 16;
const steps = 60;

/** What every rank does, in a thread of its own. @returns its share of right answers on the test part. */
export default async function trainRank(communicator: Communicator, digitsPath: string): Promise<number> {
  await useTensorFlow();
  const model = sequential({
    layers: [
      layers.conv2d({ inputShape: [28, 28, 1], filters: 8, kernelSize: 5, strides: 2, activation: "relu" }),
      layers.flatten(),
      layers.dense({ units: 10, activation: "softmax" }),
    ],
  });
  const optimizer = distributed(train.adam(0.005), communicator); // ← the line
  model.compile({ optimizer, loss: "categoricalCrossentropy", metrics: ["accuracy"] });

  // Each rank sees digits of its own; the gradients make them one model.
  const digits = readFileSync(digitsPath);
  for (let step = 0; step < steps; step += 1) {
    const [images, classes] = readDigits(digits, (i) => (37 * ((step * batch + i) * communicator.size + communicator.rank)) % 8000);
    await model.trainOnBatch(images, classes);
  }
  const [images, classes] = readDigits(digits, (i) => 8000 + 3 * i, 600);
  const [, accuracy] = model.evaluate(images, classes) as [Tensor, Tensor];
  return accuracy.dataSync()[0] ?? 0;
}

/** Digits of the file: a class and 28 × 28 pixels each, a byte a value. The first 8,000 are for training. */
function readDigits(file: Buffer, numberOf: (i: number) => number, count = batch): [Tensor, Tensor] {
  const records = Array.from({ length: count }, (_, i) => {
    const begin = 785 * numberOf(i);
    return file.subarray(begin, begin + 785);
  });
  const pixels = Float32Array.from(records.flatMap((record) => [...record.subarray(1)].map((value) => value / 255)));
  return [
    tensor4d(pixels, [count, 28, 28, 1]),
    oneHot(
      tensor1d(
        records.map(([digit = 0]) => digit),
        "int32",
      ),
      10,
    ),
  ];
}

if (isMainThread) {
  const { path } = prepareDigits(".cache/dfccl");
  const accuracies = await runRanks({ ranks: 2, program: import.meta.url, args: path });
  console.log(accuracies.map((accuracy, rank) => `rank ${rank}: ${(100 * Number(accuracy)).toFixed(1)} % right`).join("\n"));
  if (accuracies[0] !== accuracies[1] || Number(accuracies[0]) < 0.75) throw new Error("the ranks didn't learn one model");
}
