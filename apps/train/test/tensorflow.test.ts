import { conv2d, randomNormal, type Scalar, setBackend, square, sum, type Tensor4D, variable, variableGrads } from "@tensorflow/tfjs-core";
import { expect, it } from "vitest";
import { useTensorFlow } from "../src/tensorflow.js";

// Side, filter and stride: with and without a rest of the input that no filter reads.
it.each([
  { side: 7, filter: 3, stride: 1 },
  { side: 7, filter: 3, stride: 2 },
  { side: 8, filter: 3, stride: 2 },
  { side: 9, filter: 2, stride: 3 },
])("a convolution's filter gets the same gradient on wasm as on cpu: $side, $filter, $stride", async ({ side, filter, stride }) => {
  await useTensorFlow("wasm");
  await useTensorFlow("cpu");
  const seed = 7 * side + stride;
  const [x, w] = [randomNormal([3, side, side, 2], 0, 1, "float32", seed), randomNormal([filter, filter, 2, 4], 0, 1, "float32", seed + 1)];
  const input = await x.data();
  const start = await w.data();
  const gradients: number[][] = [];
  for (const backend of ["cpu", "wasm"]) {
    await setBackend(backend);
    const weights = variable(w.clone());
    weights.assign((await import("@tensorflow/tfjs-core")).tensor(start, [filter, filter, 2, 4]) as Tensor4D);
    const images = (await import("@tensorflow/tfjs-core")).tensor(input, [3, side, side, 2]) as Tensor4D;
    const { grads } = variableGrads(
      () => sum(square(conv2d(images, weights as unknown as Tensor4D, stride, "valid"))) as Scalar,
      [weights],
    );
    gradients.push(Array.from(grads[weights.name]?.dataSync() ?? []));
  }
  const [onCpu = [], onWasm = []] = gradients;
  expect(onCpu).toHaveLength(filter * filter * 8);
  for (const [i, value] of onCpu.entries()) expect(onWasm[i]).toBeCloseTo(value, 2);
});
