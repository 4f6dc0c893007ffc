import { checkInteger, checkNumber, checkText, InvalidArgumentError, type OptionNames } from "@dfccl/primitives";
import { mostRanks } from "../limits.js";
import { readEntries, readFields, readList } from "../read-fields.js";
import { readNdSbp, readPlacement, readShape } from "../sbp/read-layout.js";
import type { LogicalGraph, LogicalOp } from "./logical-graph.js";

const opFields: OptionNames<LogicalOp> = {
  ...{ name: true, op: true, inputs: true, attributes: true, placement: true },
  ...{ sbp: true, shape: true, stage: true, pass: true },
};

/** A graph as it is now, whose parts are of the right types. @throws {InvalidArgumentError}, PlacementError */
export function readGraph(graph: LogicalGraph): LogicalGraph {
  return readList("graph", graph, "a list of operations, each { name, op, … }").map((op, index) => readOp(`graph[${index}]`, op));
}

function readOp(argument: string, given: LogicalOp): LogicalOp {
  const fields = readFields(argument, given, opFields, 'an operation such as { name: "y", op: "relu", inputs: ["x"] }');
  const { name, op, inputs, attributes, placement, sbp, shape, stage, pass } = fields;
  checkText(`${argument}.name`, name, "a name of its own");
  checkText(`${argument}.op`, op, 'a kind of operation such as "relu"');
  if (stage !== undefined) checkInteger(`${argument}.stage`, stage, 0, mostRanks - 1);
  if (pass !== undefined && pass !== "forward" && pass !== "backward") {
    throw new InvalidArgumentError(`${argument}.pass`, pass, '"forward" or "backward"');
  }
  return {
    ...fields,
    ...(inputs === undefined ? {} : { inputs: readNames(`${argument}.inputs`, inputs) }),
    ...(attributes === undefined ? {} : { attributes: readNumbers(`${argument}.attributes`, attributes) }),
    ...(placement === undefined ? {} : { placement: readPlacement(`${argument}.placement`, placement) }),
    ...(sbp === undefined ? {} : { sbp: readNdSbp(`${argument}.sbp`, sbp) }),
    ...(shape === undefined ? {} : { shape: readShape(`${argument}.shape`, shape) }),
  };
}

function readNames(argument: string, given: readonly string[]): readonly string[] {
  const names = readList(argument, given, "a list of names");
  names.forEach((name, index) => void checkText(`${argument}[${index}]`, name, "an operation's name"));
  return names;
}

function readNumbers(argument: string, given: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const numbers = readEntries(argument, given, "an object such as { times: 2 }");
  for (const [name, number] of Object.entries(numbers)) checkNumber(`${argument}.${name}`, number);
  return numbers;
}
