import { DfcclError } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { type CompileOptions, compileGraph, type LogicalGraph, type LogicalOp, parseSbp, placement, runActors } from "../../src/index.js";

const two = placement([0, 1]);
const x: LogicalOp = { name: "x", op: "input", shape: [6, 4], sbp: parseSbp("S0"), placement: two };
const w: LogicalOp = { name: "w", op: "variable", shape: [4, 3], sbp: parseSbp("B"), placement: two };
const y: LogicalOp = { name: "y", op: "matmul", inputs: ["x", "w"] };
const registered: number[] = [];
const options: CompileOptions = {
  steps: 1,
  feeds: { x: () => new Float32Array(24) },
  initial: { w: new Float32Array(12) },
  collectives: {
    open: (_rank, { id }) => {
      registered.push(id);
      return (_send, _recv, done) => done();
    },
  },
};

describe("a logical graph is refused with a remedy before anything is registered", () => {
  const relu = (name: string, input: string, more: Partial<LogicalOp> = {}): LogicalOp => ({ name, op: "relu", inputs: [input], ...more });
  it.each<readonly [string, string, LogicalGraph, Partial<CompileOptions>]>([
    ["a circle", "CYCLIC_GRAPH", [relu("a", "c", { placement: two }), relu("b", "a"), relu("c", "b")], {}],
    ["an unknown operation", "UNKNOWN_OP", [x, { name: "z", op: "convolve", inputs: ["x"] }], {}],
    ["an operation named as an object's own", "UNKNOWN_OP", [x, { name: "z", op: "constructor", inputs: ["x"] }], {}],
    ["an input that isn't there", "UNKNOWN_INPUT", [relu("a", "nobody")], {}],
    ["too few inputs", "UNKNOWN_INPUT", [x, { ...y, inputs: ["x"] }], {}],
    ["a name given twice", "DUPLICATE_NAME", [x, x], {}],
    ["no placement", "PLACEMENT", [{ name: "x", op: "input", shape: [6, 4], sbp: parseSbp("S0") }], {}],
    [
      "an update elsewhere than its variable",
      "PLACEMENT",
      [w, relu("g", "w"), { name: "u", op: "update", inputs: ["w", "g"], placement: placement([1]) }],
      {},
    ],
    ["an update of what is no variable", "UNKNOWN_INPUT", [x, relu("g", "x"), { name: "u", op: "update", inputs: ["x", "g"] }], {}],
    ["shapes that don't fit", "SHAPE", [x, { ...w, shape: [5, 3] }, y], { initial: { w: new Float32Array(15) } }],
    ["no shape", "SHAPE", [{ name: "x", op: "input", placement: two, sbp: parseSbp("B") }], {}],
    ["a signature that can't be", "NO_SIGNATURE", [x, relu("a", "x", { sbp: parseSbp("P") })], {}],
    ["an input that is to be a sum", "NO_SIGNATURE", [{ ...x, sbp: parseSbp("P") }], {}],
    ["a variable that is to be a sum", "NO_SIGNATURE", [{ ...w, sbp: parseSbp("P") }], {}],
    ["a signature of other dimensions", "SIGNATURE", [x, relu("a", "x", { sbp: parseSbp("(B, B)") })], {}],
    ["an axis that isn't there", "SIGNATURE", [{ ...x, sbp: parseSbp("S2") }], {}],
    [
      "a batch that micro-batches don't divide",
      "NOT_DIVISIBLE",
      [x, { name: "u", op: "unpack", inputs: ["x"], attributes: { times: 4 } }],
      {},
    ],
    ["0 micro-batches", "RATE", [x, { name: "u", op: "unpack", inputs: ["x"], attributes: { times: 0 } }], {}],
    [
      "results of different rates",
      "RATE",
      [x, w, { name: "u", op: "unpack", inputs: ["x"], attributes: { times: 2 } }, { ...y, inputs: ["u", "w"] }],
      {},
    ],
    ["no feed", "UNKNOWN_INPUT", [x], { feeds: {} }],
    ["no feed of a name that every object knows", "UNKNOWN_INPUT", [{ ...x, name: "constructor" }], { feeds: {} }],
    ["no initial value", "SHAPE", [w], { initial: {} }],
    ["an initial value of another length", "SHAPE", [w], { initial: { w: new Float32Array(5) } }],
    ["a register count of 0", "REGISTER_COUNT", [x, relu("a", "x")], { counts: () => ({ buffer: 0 }) }],
    [
      "0 registers where an edge arrives",
      "REGISTER_COUNT",
      [x, relu("a", "x", { placement: placement([3]) })],
      { counts: () => ({ arrival: 0 }) },
    ],
  ])("%s", (_what, code, graph, more) => {
    let error: unknown;
    try {
      compileGraph(graph, { ...options, ...more });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(DfcclError);
    expect(error).toMatchObject({ code, remedy: expect.stringMatching(/^[A-Z].*\.$/s) });
    expect(registered).toEqual([]);
  });

  it("while the same parts, put together well, compile", () => {
    const { ops, plan } = compileGraph([x, w, y], options);
    expect(ops.map(({ op: { name } }) => name)).toEqual(["x", "w", "y"]);
    expect(plan.tasks).toHaveLength(6);
  });
});

it("a variable that is its own gradient is updated", async () => {
  const update: LogicalOp = { name: "u", op: "update", inputs: ["w", "w"], attributes: { rate: 0.5 } };
  const initial = { w: Float32Array.from({ length: 12 }, (_, i) => i) };
  const compiled = compileGraph([w, update], { ...options, initial });
  await runActors(compiled.plan).finished;
  expect(compiled.readVariable("w")).toEqual(initial.w.map((value) => value - 0.5 * value));
});
