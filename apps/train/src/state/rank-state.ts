import { type Optimizer, scalar, type Tensor, tensor } from "@tensorflow/tfjs-core";
import type { Parameter } from "../models/parameter.js";
import { assign } from "../rank/variable-values.js";
import { type ModelState, partOfState } from "./model-state.js";
import type { StateEntry } from "./state-board.js";

const iterations = "optimizer.iterations";
const slotName = (parameter: string, slot: number): string => `${parameter}#${slot}`;

/** A rank's parameters and what its optimizer keeps for them, as plain arrays with names. */
export async function captureState(
  parameters: readonly Parameter[],
  optimizer: Optimizer,
): Promise<{ readonly entries: StateEntry[]; readonly arrays: Float32Array[] }> {
  // TensorFlow.js's optimizers give the steps done, then one array a parameter for each kind of thing that they keep.
  const [steps, ...slots] = (await optimizer.getWeights()).map(({ tensor: weights }) => weights);
  const entries: StateEntry[] = [];
  const arrays: Float32Array[] = [];
  const add = (name: string, source: Tensor, { shape, cut }: Pick<Parameter, "shape" | "cut">): void => {
    const values = Float32Array.from(source.dataSync());
    entries.push({ name, shape, cut, length: values.length });
    arrays.push(values);
  };
  for (const parameter of parameters) add(parameter.name, parameter.variable, parameter);
  if (steps !== undefined) add(iterations, steps, { shape: [] });
  for (const [i, slot] of slots.entries()) {
    const parameter = parameters[i % parameters.length];
    if (parameter !== undefined) add(slotName(parameter.name, Math.floor(i / parameters.length)), slot, parameter);
  }
  return { entries, arrays };
}

/** The inverse: this rank's part of a state. @returns names of parameters that the state doesn't have. */
export async function restoreState(state: ModelState, parameters: readonly Parameter[], optimizer: Optimizer): Promise<string[]> {
  const missing: string[] = [];
  for (const parameter of parameters) {
    const values = partOfState(state, parameter);
    if (values === undefined) missing.push(parameter.name);
    else assign(parameter.variable, values);
  }
  const steps = partOfState(state, { name: iterations, shape: [] });
  const weights = [{ name: "iter", tensor: scalar(steps?.[0] ?? 0, "int32") as Tensor }];
  for (let slot = 0; ; slot += 1) {
    const values = parameters.map(({ name, shape, cut }) => partOfState(state, { name: slotName(name, slot), shape, cut }));
    if (values.some((part) => part === undefined)) break;
    for (const [i, { variable }] of parameters.entries()) {
      weights.push({ name: `${i}`, tensor: tensor(values[i] ?? [], variable.shape, "float32") });
    }
  }
  if (steps !== undefined) await optimizer.setWeights(weights);
  return missing;
}
