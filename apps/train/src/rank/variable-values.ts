import { tensor, type Variable } from "@tensorflow/tfjs-core";

/** Gives a variable these values. They are copied. */
export function assign(variable: Variable, values: Float32Array): void {
  const copy = tensor(values.slice(), variable.shape, "float32");
  variable.assign(copy);
  copy.dispose();
}
