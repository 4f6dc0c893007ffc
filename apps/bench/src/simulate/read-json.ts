import { readFileSync } from "node:fs";
import { SimulationConfigError } from "@dfccl/simulator";

/** @throws {SimulationConfigError} where it isn't there, or isn't JSON. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const problem = `can't be read as JSON (${(error as Error).message})`;
    throw new SimulationConfigError(path, [{ key: "the file", value: path, problem }], error);
  }
}
