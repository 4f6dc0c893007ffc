import { chooseBoxing } from "../boxing/choose-boxing.js";
import { PlacementError } from "../sbp/errors.js";
import { type Layout, layout } from "../sbp/layout.js";
import { isSamePlacement, type Placement } from "../sbp/placement.js";
import { formatSbp, isSameNdSbp, type NdSbp, type Sbp } from "../sbp/sbp.js";
import { GraphError } from "./errors.js";
import type { Attributes, LogicalGraph, LogicalOp } from "./logical-graph.js";
import { elementBytes, type OpDefinition, type Signature } from "./op-definition.js";
import { opDefinitions } from "./op-definitions.js";
import { readGraph } from "./read-graph.js";

/** An operation with everything decided: how its inputs must lie, and how its result does. */
export interface ResolvedOp {
  readonly op: LogicalOp;
  readonly definition: OpDefinition;
  readonly attributes: Attributes;
  readonly inputs: readonly ResolvedOp[];
  /** How it wants each input, at its own placement. */
  readonly wanted: readonly Layout[];
  readonly output: Layout;
  /** Results of it in a step: 1, or K within micro-batches. */
  readonly rate: number;
  readonly stage: number;
  readonly pass: "forward" | "backward";
}

/**
 * Checks a graph and chooses a signature for each operation, in an order that comes after its inputs: the one for which
 * boxing its inputs costs least.
 * @throws {GraphError}, {@link PlacementError}, ShapeError, SignatureError; InvalidArgumentError for what is no graph.
 */
export function resolveGraph(given: LogicalGraph): ResolvedOp[] {
  const graph = readGraph(given);
  const byName = new Map<string, LogicalOp>();
  for (const op of graph) {
    if (byName.has(op.name)) throw new GraphError("DUPLICATE_NAME", op.name, "is there twice", "Give each operation a name of its own.");
    byName.set(op.name, op);
  }
  const resolved = new Map<string, ResolvedOp>();
  const path: string[] = [];
  const visit = (op: LogicalOp): ResolvedOp => {
    const known = resolved.get(op.name);
    if (known !== undefined) return known;
    if (path.includes(op.name)) {
      const cycle = [...path.slice(path.indexOf(op.name)), op.name];
      throw new GraphError("CYCLIC_GRAPH", op.name, `needs its own result: ${cycle.join(" needs ")}`, "Break one of these edges.", {
        cycle,
      });
    }
    path.push(op.name);
    const inputs = (op.inputs ?? []).map((name) => {
      const input = byName.get(name);
      if (input !== undefined) return visit(input);
      throw new GraphError("UNKNOWN_INPUT", op.name, `takes ${name}, which isn't in the graph`, "Name an operation of the graph.", {
        input: name,
      });
    });
    path.pop();
    const result = resolveOp(op, inputs);
    resolved.set(op.name, result);
    return result;
  };
  for (const op of graph) visit(op);
  return [...resolved.values()];
}

function resolveOp(op: LogicalOp, inputs: readonly ResolvedOp[]): ResolvedOp {
  const definition = Object.hasOwn(opDefinitions, op.op) ? opDefinitions[op.op] : undefined;
  if (definition === undefined) {
    throw new GraphError(
      "UNKNOWN_OP",
      op.name,
      `is of the unknown kind ${op.op}`,
      `Take one of ${Object.keys(opDefinitions).join(", ")}.`,
      { kind: op.op },
    );
  }
  if (inputs.length !== definition.inputCount) {
    throw new GraphError("UNKNOWN_INPUT", op.name, `takes ${inputs.length} inputs`, `Give a ${op.op} ${definition.inputCount}.`, {
      inputs: inputs.length,
    });
  }
  const attributes = op.attributes ?? {};
  const place = op.placement ?? inputs[0]?.output.placement;
  if (place === undefined)
    throw new PlacementError(`Operation ${op.name} has no placement.`, "Give one: it has no input to take it from.", { op: op.name });
  const base = {
    op,
    definition,
    attributes,
    inputs,
    rate: rateOf(op, definition, inputs),
    stage: op.stage ?? 0,
    pass: op.pass ?? "forward",
  } as const;
  if (definition.rhythm === "source") {
    if (op.shape === undefined || op.sbp === undefined) {
      throw new GraphError("SHAPE", op.name, "has no shape or no signature", "Give both: it has no input to take them from.");
    }
    if (op.sbp.some(({ kind }) => kind === "partial")) {
      // Each rank takes the whole tensor's values, and the sum of all would be a multiple of it.
      const remedy = "Give S or B along each dimension.";
      throw new GraphError("NO_SIGNATURE", op.name, `can't begin as ${formatSbp(op.sbp)}`, remedy, { sbp: formatSbp(op.sbp) });
    }
    return { ...base, wanted: [], output: layout(op.shape, op.sbp, place) };
  }
  if (definition.isUpdate) checkUpdate(op, inputs, place);
  const shapes = inputs.map(({ output }) => output.shape);
  const shape = definition.shape(shapes, attributes);
  if (shape === undefined) {
    const given = shapes.map((one) => `[${one.join(", ")}]`).join(" and ");
    throw new GraphError("SHAPE", op.name, `can't be a ${op.op} of shapes ${given}`, "See the operation's table for what fits.", {
      shapes,
    });
  }
  if (shape.some((extent) => !Number.isInteger(extent))) throw notDivisible(op, attributes, shapes[0] ?? []);
  return { ...base, ...choose(op, definition, attributes, inputs, place, shape) };
}

function notDivisible(op: LogicalOp, { times = 1 }: Attributes, shape: readonly number[]): GraphError {
  const problem = `can't divide the first axis of [${shape.join(", ")}] into ${times} equal parts`;
  return new GraphError("NOT_DIVISIBLE", op.name, problem, "Choose a batch that the number of micro-batches divides.", { shape, times });
}

function rateOf(op: LogicalOp, { rhythm }: OpDefinition, inputs: readonly ResolvedOp[]): number {
  const { times = 1 } = op.attributes ?? {};
  if (!Number.isInteger(times) || times < 1)
    throw new GraphError("RATE", op.name, `has times ${times}`, "Give a whole number from 1.", { times });
  const rates = new Set(inputs.map(({ rate }) => rate));
  if (rates.size > 1) {
    const given = inputs.map(({ op: { name }, rate }) => `${name} comes ${rate} times a step`).join(", ");
    throw new GraphError("RATE", op.name, `takes results of different rates: ${given}`, "Put unpack, repeat or accumulate between.", {
      rates: [...rates],
    });
  }
  const [rate = 1] = rates;
  if (rhythm === "holds-input") return rate * times;
  if (rhythm !== "sends-late") return rate;
  if (rate % times !== 0)
    throw new GraphError("RATE", op.name, `takes ${times} of ${rate} results a step`, "Take all, or a part that divides them.", {
      rate,
      times,
    });
  return rate / times;
}

function checkUpdate(op: LogicalOp, [variable]: readonly ResolvedOp[], place: Placement): void {
  if (variable?.op.op !== "variable") {
    throw new GraphError(
      "UNKNOWN_INPUT",
      op.name,
      `updates ${variable?.op.name}, which is no variable`,
      "Give the variable itself as its first input.",
    );
  }
  if (isSamePlacement(variable.output.placement, place)) return;
  throw new PlacementError(
    `Operation ${op.name} runs on ranks ${place.ranks.join(", ")}, and the variable that it updates lies on ${variable.output.placement.ranks.join(", ")}.`,
    "Update a variable where it lies: leave out the placement.",
    { op: op.name, ranks: place.ranks, variable: variable.op.name },
  );
}

interface Choice {
  readonly wanted: readonly Layout[];
  readonly output: Layout;
}

function choose(
  op: LogicalOp,
  definition: OpDefinition,
  attributes: Attributes,
  inputs: readonly ResolvedOp[],
  place: Placement,
  shape: readonly number[],
): Choice {
  const shapes = inputs.map(({ output }) => output.shape);
  const signatures = definition.signatures(shapes, attributes);
  const wantedOutput = definition.isUpdate ? inputs[0]?.output.sbp : op.sbp;
  if (wantedOutput !== undefined) layout(shape, wantedOutput, place);
  let best: (Choice & { readonly cost: number }) | undefined;
  for (const combination of combinations(signatures, place.hierarchy.length)) {
    const sbp: NdSbp = combination.map(({ output }) => output);
    if (wantedOutput !== undefined && !isSameNdSbp(sbp, wantedOutput)) continue;
    const wanted = inputs.map(({ output }, index) =>
      layout(
        output.shape,
        combination.map((signature) => signature.inputs[index] as Sbp),
        place,
      ),
    );
    const cost = inputs.reduce((sum, { output }, index) => sum + chooseBoxing(output, wanted[index] as Layout, elementBytes).cost, 0);
    if (best === undefined || cost < best.cost) best = { wanted, output: layout(shape, sbp, place), cost };
  }
  if (best !== undefined) return best;
  const names = signatures.map(({ output }) => formatSbp([output])).join(", ");
  throw new GraphError(
    "NO_SIGNATURE",
    op.name,
    `can't give the signature ${formatSbp(wantedOutput ?? [])}`,
    `Along each dimension a ${op.op} gives one of ${names}.`,
    {
      sbp: wantedOutput === undefined ? undefined : formatSbp(wantedOutput),
    },
  );
}

function combinations(signatures: readonly Signature[], dimensions: number): Signature[][] {
  return Array.from({ length: dimensions }).reduce<Signature[][]>(
    (all) => all.flatMap((some) => signatures.map((next) => [...some, next])),
    [[]],
  );
}
