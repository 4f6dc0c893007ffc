import { checkInteger } from "@dfccl/primitives";
import { readFields, readList } from "../read-fields.js";
import type { Box } from "./box.js";

/** @throws {InvalidArgumentError} */
export function readBox(argument: string, given: Box): Box {
  return readList(argument, given, "a box: { from, to } for each axis").map((range, axis) => {
    const name = `${argument}[${axis}]`;
    const { from, to } = readFields(name, range, { from: true, to: true }, "a range: { from, to }");
    checkInteger(`${name}.from`, from, 0);
    checkInteger(`${name}.to`, to, from);
    return { from, to };
  });
}
