import { type BuildableCollective, hasInput, hasOutput, inputSegmentsOf, outputSegmentsOf, type ReduceOp } from "@dfccl/primitives";

export interface ReferenceCase {
  readonly collective: BuildableCollective;
  readonly op: ReduceOp;
  readonly count: number;
  readonly root: number;
  /** `inputs[rank]`; empty for ranks without an input. */
  readonly inputs: readonly (readonly number[])[];
  /** Of scaled-sum. */
  readonly scales: readonly number[];
}

/** What a collective must give: `outputs[rank]`, empty for ranks without an output. Written from NCCL's definitions. */
export function referenceOutputs(test: ReferenceCase): number[][] {
  const { collective, count, root, inputs } = test;
  const size = inputs.length;
  const ranks = inputs.map((_, rank) => rank);
  const segment = (rank: number, index: number): number[] => (inputs[rank] ?? []).slice(index * count, (index + 1) * count);
  const outputOf = (rank: number): number[] => {
    switch (collective) {
      case "all-reduce":
      case "reduce":
        return reduced(test, 0);
      case "reduce-scatter":
        return reduced(test, rank);
      case "all-gather":
      case "gather":
        return ranks.flatMap((from) => segment(from, 0));
      case "broadcast":
      case "send-recv":
        return segment(root, 0);
      case "scatter":
        return segment(root, rank);
      case "all-to-all":
        return ranks.flatMap((from) => segment(from, rank));
      case "barrier":
        return [];
    }
  };
  return ranks.map((rank) => (hasOutput(collective, rank, root) && outputSegmentsOf(collective, size) > 0 ? outputOf(rank) : []));
}

/** Elements of a rank's input buffer. */
export function inputLength(collective: BuildableCollective, size: number, rank: number, root: number, count: number): number {
  return hasInput(collective, rank, root) ? inputSegmentsOf(collective, size) * count : 0;
}

function reduced({ op, count, inputs, scales }: ReferenceCase, segment: number): number[] {
  const scaleOf = (rank: number): number => (op === "scaled-sum" ? (scales[rank] ?? 1) : 1);
  return Array.from({ length: count }, (_, i) =>
    combined(
      op,
      inputs.map((input, rank) => (input[segment * count + i] ?? 0) * scaleOf(rank)),
    ),
  );
}

function combined(op: ReduceOp, values: readonly number[]): number {
  switch (op) {
    case "sum":
    case "scaled-sum":
      return values.reduce((a, b) => a + b);
    case "avg":
      return values.reduce((a, b) => a + b) / values.length;
    case "prod":
      return values.reduce((a, b) => a * b);
    case "min":
      return Math.min(...values);
    case "max":
      return Math.max(...values);
    case "bit-and":
      return values.reduce((a, b) => a & b);
    case "bit-or":
      return values.reduce((a, b) => a | b);
    case "bit-xor":
      return values.reduce((a, b) => a ^ b);
  }
}
