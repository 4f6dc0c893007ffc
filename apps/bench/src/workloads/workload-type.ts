/** One gradient of a model: what one all-reduce carries. */
export interface Tensor {
  readonly name: string;
  readonly elements: number;
}

/** The tensors of a model in the order in which the forward pass meets them; a backward pass emits them in reverse. */
export interface Workload {
  readonly name: string;
  readonly tensors: readonly Tensor[];
}
