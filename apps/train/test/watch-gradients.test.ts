import {
  add,
  engine,
  gather,
  matMul,
  mean,
  mul,
  type Scalar,
  square,
  sum,
  tensor1d,
  tensor2d,
  type Variable,
  variable,
  variableGrads,
} from "@tensorflow/tfjs-core";
import { beforeAll, describe, expect, it } from "vitest";
import { watchGradients } from "../src/autodiff/watch-gradients.js";
import { useTensorFlow } from "../src/tensorflow.js";

beforeAll(() => useTensorFlow("cpu"));

/** Runs a backward pass; parts are added up as a reducer would, and each complete gradient is noted when it is there. */
function watched(loss: () => Scalar, variables: Variable[]): { events: string[]; sums: number[][]; returned: number[][] } {
  const events: string[] = [];
  const sums: number[][] = variables.map(() => []);
  const { grads } = variableGrads(
    watchGradients(loss, variables, {
      onContribution(index, part, isLast) {
        sums[index] = Array.from(part.dataSync(), (value, i) => value + (sums[index]?.[i] ?? 0));
        if (isLast) events.push(`${index} is complete`);
      },
      onUnused: (index) => events.push(`${index} is unused`),
    }),
    variables,
  );
  return { events, sums, returned: variables.map(({ name }) => Array.from(grads[name]?.dataSync() ?? [])) };
}

describe("gradients in the backward pass", () => {
  it("are told of from the last layer to the first, with the values that TensorFlow.js returns", () => {
    const layers = [0, 1, 2].map((layer) => variable(tensor2d([1 + layer, 2, -1, 0.5], [2, 2])));
    const x = tensor2d([1, 2, 3, 4], [2, 2]);
    const { events, sums, returned } = watched(() => mean(square(layers.reduce((h, w) => matMul(h, w), x))) as Scalar, layers);
    expect(events).toEqual(["2 is complete", "1 is complete", "0 is complete"]);
    expect(sums).toEqual(returned);
    expect(returned.every((gradient) => gradient.length === 4)).toBe(true);
  });

  it("of a variable that is used twice are complete with its first use, which the pass comes to last", () => {
    const [shared, between] = [variable(tensor1d([2, 3])), variable(tensor1d([5, 7]))];
    const { events, sums, returned } = watched(() => sum(mul(shared, mul(between, square(shared)))) as Scalar, [shared, between]);
    // The square is the first operation that reads it: what reads `between` comes after, so that one is complete before.
    expect(events).toEqual(["1 is complete", "0 is complete"]);
    expect(sums).toEqual(returned);
  });

  it("of a variable that one operation takes twice are complete with the second", () => {
    const both = variable(tensor1d([2, 3]));
    const { events, sums, returned } = watched(() => sum(mul(both, both)) as Scalar, [both]);
    expect(events).toEqual(["0 is complete"]);
    expect([sums, returned]).toEqual([[[4, 6]], [[4, 6]]]);
  });

  it("leave out uses that the loss doesn't depend on, and name a variable that it doesn't depend on at all", () => {
    const [used, unused] = [variable(tensor1d([2, 3])), variable(tensor1d([1, 1]))];
    const loss = () => {
      const useful = square(used);
      add(unused, used);
      return sum(useful) as Scalar;
    };
    const { events, sums, returned } = watched(loss, [used, unused]);
    expect(events).toEqual(["1 is unused", "0 is complete"]);
    expect(sums[0]).toEqual(returned[0]);
  });

  it("of tables of which rows are gathered are complete, too", () => {
    const table = variable(tensor2d([1, 2, 3, 4, 5, 6], [3, 2]));
    const { sums, returned } = watched(() => sum(square(gather(table, tensor1d([2, 0, 2], "int32")))) as Scalar, [table]);
    expect(sums).toEqual(returned);
    expect(returned).toEqual([[2, 4, 0, 0, 20, 24]]);
  });

  it("can't be watched outside a backward pass", () => {
    const w = variable(tensor1d([1]));
    const watchedLoss = watchGradients(() => sum(w) as Scalar, [w], { onContribution: () => undefined, onUnused: () => undefined });
    expect(engine().state.gradientDepth).toBe(0);
    expect(watchedLoss).toThrow(TypeError);
  });
});
