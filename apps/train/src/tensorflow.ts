import { InvalidArgumentError } from "@dfccl/primitives";
import { engine, type KernelFunc, ready, registerKernel, setBackend, type Tensor } from "@tensorflow/tfjs-core";
// TensorFlow.js's packages register what they have when they are loaded: the gradients come with the layers.
import "@tensorflow/tfjs-layers";
import "@tensorflow/tfjs-backend-cpu";
import "@tensorflow/tfjs-backend-wasm";
import { TensorFlowError } from "./errors.js";

export type BackendName = "wasm" | "cpu";

/**
 * Chooses TensorFlow.js's backend and waits until it can compute. "wasm" needs no native build and is 60 to 100 times as fast
 * as "cpu" in convolutions; it lacks one kernel of their backward pass, which is added here.
 * @throws {InvalidArgumentError}, {TensorFlowError}
 */
export async function useTensorFlow(backend: BackendName = "wasm"): Promise<void> {
  if (backend !== "wasm" && backend !== "cpu") throw new InvalidArgumentError("backend", backend, '"wasm" or "cpu"');
  // Already in force, in which case its kernels are there too.
  if (engine().backendName === backend) return;
  if (!(await setBackend(backend))) throw new TensorFlowError(`TensorFlow.js can't start its backend "${backend}"`);
  await ready();
  if (backend === "wasm") registerKernel({ kernelName: "Conv2DBackpropFilter", backendName: "wasm", kernelFunc: filterGradient });
}

interface FilterGradientAttributes {
  readonly strides: number | readonly [number, number];
  readonly pad: "valid" | "same" | number;
  readonly filterShape: readonly [number, number, number, number];
}

/**
 * The gradient of a convolution's filter is itself a convolution: of the input, with its channels as batch and its batch as
 * channels, by the output's gradient, stretched by the strides.
 */
const filterGradient: KernelFunc = ({ inputs, attrs }) => {
  const { strides, pad, filterShape } = attrs as unknown as FilterGradientAttributes;
  if (pad !== "valid" && pad !== 0) throw new TensorFlowError(`A convolution with padding ${pad} can't be trained on the wasm backend`);
  const [height, width, inputs_, outputs] = filterShape;
  const run = (kernel: string, input: Record<string, unknown>, attributes: object): Tensor =>
    engine().runKernel(kernel, input as never, attributes as never) as Tensor;
  const x = run("Transpose", { x: inputs.x }, { perm: [3, 1, 2, 0] });
  const filter = run("Transpose", { x: inputs.dy }, { perm: [1, 2, 0, 3] });
  const dilations = typeof strides === "number" ? [strides, strides] : strides;
  const whole = run("Conv2D", { x, filter }, { strides: [1, 1], pad: "valid", dataFormat: "NHWC", dilations });
  // Where the strides left a rest of the input unread, the result has rows and columns too many.
  const cut = run("Slice", { x: whole }, { begin: [0, 0, 0, 0], size: [inputs_, height, width, outputs] });
  const gradient = run("Transpose", { x: cut }, { perm: [1, 2, 0, 3] });
  for (const tensor of [x, filter, whole, cut]) tensor.dispose();
  return gradient;
};
