import { checkPath, DfcclError, formatValue } from "@dfccl/primitives";
import { readText } from "../inputs/read-text.js";
import { mostElements, mostTensors } from "./read-workload.js";
import { resnet50 } from "./resnet50.js";
import { gpt2, vitB16 } from "./transformers.js";
import type { Tensor, Workload } from "./workload.js";

/** The workload can't be read. */
export class WorkloadError extends DfcclError {
  override readonly code = "WORKLOAD";

  constructor(source: string, problem: string, cause?: unknown) {
    super(`Workload ${source}: ${problem}.`, {
      facts: { source, problem },
      remedy: 'Give resnet50, vit-b16, gpt2, or a JSON file like {"name": "mine", "tensors": [{"name": "w", "elements": 1000}]}.',
      cause,
    });
  }
}

const builtIn: Readonly<Record<string, () => Workload>> = { resnet50, "vit-b16": vitB16, gpt2: () => gpt2() };

export const workloadNames = Object.keys(builtIn);

/**
 * A built-in workload by name, or one from a JSON file.
 * @throws {InvalidArgumentError} for what is neither a name nor a path; {@link WorkloadError} naming what is wrong and where.
 */
export function loadWorkload(nameOrFile: string): Workload {
  if (nameOrFile === "") throw new WorkloadError('""', "there is no name and no file in it");
  checkPath("workload", nameOrFile, "workload.json");
  const known = Object.hasOwn(builtIn, nameOrFile) ? builtIn[nameOrFile] : undefined;
  if (known) return known();
  const text = readText(nameOrFile, (why, cause) => {
    const isNothing = why === "there is no such file";
    return new WorkloadError(nameOrFile, isNothing ? "there is no built-in workload and no file of that name" : why, cause);
  });
  return parseWorkload(nameOrFile, text);
}

function parseWorkload(source: string, text: string): Workload {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new WorkloadError(source, `it isn't JSON (${(error as Error).message})`, error);
  }
  const { name = source, tensors } = (parsed ?? {}) as { name?: unknown; tensors?: unknown };
  if (typeof name !== "string") throw new WorkloadError(source, "name isn't a string");
  if (!Array.isArray(tensors) || tensors.length === 0) throw new WorkloadError(source, "tensors isn't a list with entries");
  if (tensors.length > mostTensors) throw new WorkloadError(source, `${tensors.length} tensors; at most ${mostTensors} are allowed`);
  return { name, tensors: tensors.map((entry, index) => parseTensor(source, entry, index)) };
}

function parseTensor(source: string, entry: unknown, index: number): Tensor {
  const { name = `tensor ${index}`, elements } = (entry ?? {}) as { name?: unknown; elements?: unknown };
  if (typeof name !== "string") throw new WorkloadError(source, `tensors[${index}].name isn't a string`);
  if (!Number.isInteger(elements) || (elements as number) < 1 || (elements as number) > mostElements) {
    throw new WorkloadError(source, `tensors[${index}].elements is ${formatValue(elements)}, not a whole number from 1 to ${mostElements}`);
  }
  return { name, elements: elements as number };
}
