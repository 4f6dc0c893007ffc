import { checkInteger, checkList, checkObject, checkText, readPlain } from "@dfccl/primitives";
import type { Workload } from "./workload-type.js";

export const mostTensors = 4096;
export const mostElements = 2 ** 31;

/** @returns a copy. @throws {InvalidArgumentError} */
export function readWorkload(argument: string, given: Workload): Workload {
  checkObject(argument, given, 'an object such as { name: "mine", tensors: [{ name: "w", elements: 1000 }] }');
  const workload = readPlain(argument, given);
  checkText(`${argument}.name`, workload.name, "a text");
  checkList(`${argument}.tensors`, workload.tensors, 'a list such as [{ name: "w", elements: 1000 }]');
  checkInteger(`the number of ${argument}.tensors`, workload.tensors.length, 1, mostTensors);
  workload.tensors.forEach((tensor, i) => {
    const name = `${argument}.tensors[${i}]`;
    checkObject(name, tensor, 'an object such as { name: "w", elements: 1000 }');
    checkText(`${name}.name`, tensor.name, "a text");
    checkInteger(`${name}.elements`, tensor.elements, 1, mostElements);
  });
  return workload;
}
