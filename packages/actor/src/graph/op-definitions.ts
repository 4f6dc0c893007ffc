import { broadcast, partial, type Sbp, split } from "../sbp/sbp.js";
import type { Attributes } from "./logical-graph.js";
import { matmul } from "./matmul.js";
import type { LocalTensor, OpDefinition, Signature } from "./op-definition.js";

type Shapes = readonly (readonly number[])[];

const first = (shapes: Shapes): readonly number[] | undefined => shapes[0];
const alike = (shapes: Shapes): readonly number[] | undefined =>
  shapes.every((shape) => shape.join() === shapes[0]?.join()) ? shapes[0] : undefined;

/** The same signature everywhere: split along each axis, broadcast, and partial where the operation is linear. */
function elementwise(isLinear: boolean): OpDefinition["signatures"] {
  return (shapes) => {
    const axes = (shapes[0] ?? []).map((_extent, axis) => split(axis));
    const all: readonly Sbp[] = [...axes, broadcast, ...(isLinear ? [partial] : [])];
    return all.map((sbp): Signature => ({ inputs: shapes.map(() => sbp), output: sbp }));
  };
}

function forEach(output: LocalTensor, value: (index: number) => number): void {
  for (let index = 0; index < output.data.length; index += 1) output.data[index] = value(index);
}

const at = (tensor: LocalTensor | undefined, index: number): number => tensor?.data[index] ?? 0;

/** Data of each step, whole; every rank takes its part. */
const source: Omit<OpDefinition, "compute"> = { inputCount: 0, rhythm: "source", shape: () => undefined, signatures: () => [] };
const computesNothing = (): void => undefined;

/** Of parts of a batch: whole rows come one after another, so the first axis can't be split. */
const rowsStayTogether: OpDefinition["signatures"] = (shapes, attributes) =>
  elementwise(true)(shapes, attributes).filter(({ output }) => output.kind !== "split" || output.axis > 0);

const unpack: OpDefinition = {
  inputCount: 1,
  rhythm: "holds-input",
  shape: ([shape = []], { times = 1 }) => [(shape[0] ?? 0) / times, ...shape.slice(1)],
  signatures: rowsStayTogether,
  compute: ([input], output, { times = 1 }, act) => {
    const from = (act % times) * output.data.length;
    if (input !== undefined) output.data.set(input.data.subarray(from, from + output.data.length));
  },
};

const accumulate: OpDefinition = {
  inputCount: 1,
  rhythm: "sends-late",
  shape: first,
  signatures: elementwise(true),
  compute: ([input], output, { times = 1 }, act) => {
    const isFirst = act % times === 0;
    forEach(output, (index) => (isFirst ? 0 : at(output, index)) + at(input, index));
  },
};

const pack: OpDefinition = {
  inputCount: 1,
  rhythm: "sends-late",
  shape: ([shape = []], { times = 1 }) => [(shape[0] ?? 0) * times, ...shape.slice(1)],
  signatures: rowsStayTogether,
  compute: ([input], output, { times = 1 }, act) => {
    if (input !== undefined) output.data.set(input.data, (act % times) * input.data.length);
  },
};

const addBias: OpDefinition = {
  inputCount: 2,
  rhythm: "each",
  shape: ([x = [], bias = []]) => (x.length === 2 && bias.length === 1 && bias[0] === x[1] ? x : undefined),
  signatures: () => [
    { inputs: [split(0), broadcast], output: split(0) },
    { inputs: [split(1), split(0)], output: split(1) },
    { inputs: [broadcast, broadcast], output: broadcast },
  ],
  compute: ([x, bias], output) => forEach(output, (index) => at(x, index) + at(bias, index % (output.shape[1] ?? 1))),
};

const sumRows: OpDefinition = {
  inputCount: 1,
  rhythm: "each",
  shape: ([x = []]) => (x.length === 2 ? x.slice(1) : undefined),
  signatures: () => [
    { inputs: [split(0)], output: partial },
    { inputs: [split(1)], output: split(0) },
    { inputs: [broadcast], output: broadcast },
    { inputs: [partial], output: partial },
  ],
  compute: ([x], output) => {
    const [rows = 0, columns = 0] = x?.shape ?? [];
    forEach(output, (column) => {
      let sum = 0;
      for (let row = 0; row < rows; row += 1) sum += at(x, row * columns + column);
      return sum;
    });
  },
};

const halfSquaredError: OpDefinition = {
  inputCount: 2,
  rhythm: "each",
  shape: (shapes) => (alike(shapes) === undefined ? undefined : [1]),
  signatures: (shapes) => [
    ...(shapes[0] ?? []).map((_extent, axis): Signature => ({ inputs: [split(axis), split(axis)], output: partial })),
    { inputs: [broadcast, broadcast], output: broadcast },
  ],
  compute: ([prediction, target], output, { scale = 1 }) => {
    let sum = 0;
    prediction?.data.forEach((value, index) => {
      sum += (value - at(target, index)) ** 2;
    });
    output.data[0] = (scale * sum) / 2;
  },
};

const scaled = (isLinear: boolean, value: (a: number, b: number, attributes: Attributes) => number, inputCount: number): OpDefinition => ({
  inputCount,
  rhythm: "each",
  shape: alike,
  signatures: elementwise(isLinear),
  compute: ([a, b], output, attributes) => forEach(output, (index) => value(at(a, index), at(b, index), attributes)),
});

/**
 * Operations that graphs are made of, computed by plain loops over typed arrays. Tensors are float32.
 *
 * | name | attributes | result |
 * | --- | --- | --- |
 * | `input`, `variable` | | data of each step; parameters, which `update` changes |
 * | `output` | | hands its input to the caller |
 * | `matmul` | `transposeA`, `transposeB`: 0 or 1 | a · b |
 * | `add-bias`, `sum-rows` | | x + b in each row; the sum of all rows, which is its gradient |
 * | `relu`, `relu-gradient` | | max(x, 0); (dy, y) → dy where y > 0 |
 * | `difference`, `half-squared-error` | `scale` | (a − b) · scale; Σ (a − b)² · scale / 2 |
 * | `update` | `rate` | variable −= rate · gradient, after everybody has read the variable |
 * | `unpack`, `pack` | `times` | K parts of a batch, one after another; the reverse |
 * | `repeat`, `accumulate` | `times` | a tensor K times, in place; the sum of K |
 * | `buffer` | `registers` | a copy, with room for so many |
 */
export const opDefinitions: Readonly<Record<string, OpDefinition>> = {
  input: { ...source, compute: computesNothing },
  variable: { ...source, compute: computesNothing },
  output: { inputCount: 1, rhythm: "each", shape: first, signatures: elementwise(false), compute: computesNothing },
  matmul,
  "add-bias": addBias,
  "sum-rows": sumRows,
  relu: scaled(false, (x) => Math.max(x, 0), 1),
  "relu-gradient": scaled(false, (dy, y) => (y > 0 ? dy : 0), 2),
  difference: scaled(true, (a, b, { scale = 1 }) => (a - b) * scale, 2),
  "half-squared-error": halfSquaredError,
  update: {
    inputCount: 2,
    rhythm: "each",
    shape: alike,
    signatures: elementwise(false),
    isUpdate: true,
    compute: ([variable, gradient], _output, { rate = 0 }) => {
      if (variable !== undefined) forEach(variable, (index) => at(variable, index) - rate * at(gradient, index));
    },
  },
  unpack,
  pack,
  repeat: { inputCount: 1, rhythm: "holds-input", shape: first, signatures: elementwise(true), isInPlace: true, compute: computesNothing },
  accumulate,
  buffer: {
    inputCount: 1,
    rhythm: "each",
    shape: first,
    signatures: elementwise(true),
    compute: ([input], output) => {
      if (input !== undefined) output.data.set(input.data);
    },
  },
};
