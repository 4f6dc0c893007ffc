import { broadcast, partial, split } from "../sbp/sbp.js";
import type { LocalTensor, OpDefinition } from "./op-definition.js";

/** a · b, each transposed first where its attribute says so. */
export const matmul: OpDefinition = {
  inputCount: 2,
  rhythm: "each",
  shape: ([a = [], b = []], { transposeA = 0, transposeB = 0 }) => {
    const [rows, inner] = transposeA ? [a[1], a[0]] : a;
    const [innerB, columns] = transposeB ? [b[1], b[0]] : b;
    if (a.length !== 2 || b.length !== 2 || inner !== innerB || rows === undefined || columns === undefined) return undefined;
    return [rows, columns];
  },
  signatures: (_shapes, { transposeA = 0, transposeB = 0 }) => {
    const [rowAxis, innerAxisA] = transposeA ? [1, 0] : [0, 1];
    const [innerAxisB, columnAxis] = transposeB ? [1, 0] : [0, 1];
    return [
      { inputs: [split(rowAxis), broadcast], output: split(0) },
      { inputs: [broadcast, split(columnAxis)], output: split(1) },
      { inputs: [split(innerAxisA), split(innerAxisB)], output: partial },
      { inputs: [broadcast, broadcast], output: broadcast },
      { inputs: [partial, broadcast], output: partial },
      { inputs: [broadcast, partial], output: partial },
    ];
  },
  compute: ([a, b], output, { transposeA = 0, transposeB = 0 }) => {
    if (a === undefined || b === undefined) return;
    const [rowsOfA = 0, columnsOfA = 0] = a.shape;
    const columnsOfB = b.shape[1] ?? 0;
    const inner = transposeA ? rowsOfA : columnsOfA;
    const columns = output.shape[1] ?? 0;
    // Strides, so that no transposed copy is made.
    const [aRow, aInner] = transposeA ? [1, columnsOfA] : [columnsOfA, 1];
    const [bInner, bColumn] = transposeB ? [1, columnsOfB] : [columnsOfB, 1];
    for (let row = 0; row < (output.shape[0] ?? 0); row += 1) {
      for (let column = 0; column < columns; column += 1) {
        output.data[row * columns + column] = dot(a, row * aRow, aInner, b, column * bColumn, bInner, inner);
      }
    }
  },
};

function dot(a: LocalTensor, aStart: number, aStep: number, b: LocalTensor, bStart: number, bStep: number, length: number): number {
  let sum = 0;
  for (let index = 0; index < length; index += 1) sum += (a.data[aStart + index * aStep] ?? 0) * (b.data[bStart + index * bStep] ?? 0);
  return sum;
}
