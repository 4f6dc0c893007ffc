import { checkNumber, InvalidArgumentError } from "@dfccl/primitives";
import { readWorkload } from "./read-workload.js";
import type { Tensor, Workload } from "./workload-type.js";

export type { Tensor, Workload } from "./workload-type.js";

export function tensor(name: string, ...shape: readonly number[]): Tensor {
  return { name, elements: shape.reduce((product, extent) => product * extent, 1) };
}

/** @throws {InvalidArgumentError} */
export function elementsOf(workload: Workload): number {
  const { tensors } = readWorkload("workload", workload);
  return tensors.reduce((sum, { elements }) => sum + elements, 0);
}

export function longestOf({ tensors }: Workload): number {
  return Math.max(...tensors.map(({ elements }) => elements));
}

/**
 * Every tensor with a share of its elements, at least one.
 * @throws {InvalidArgumentError}
 */
export function scaled(given: Workload, scale: number): Workload {
  const workload = readWorkload("workload", given);
  checkNumber("scale", scale);
  if (!(scale > 0 && scale <= 1)) throw new InvalidArgumentError("scale", scale, "a share above 0, 1 at most");
  if (scale === 1) return workload;
  return {
    name: `${workload.name} × ${scale}`,
    tensors: workload.tensors.map(({ name, elements }) => ({ name, elements: Math.max(1, Math.round(elements * scale)) })),
  };
}
