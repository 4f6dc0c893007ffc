import { checkObject, readArgument } from "@dfccl/primitives";
import { PerfError } from "./errors.js";

export interface PerfEnvironment {
  /** NCCL_TESTS_DEVICE: the first GPU to use. */
  readonly firstDevice: number | undefined;
  /** NCCL_TESTS_MIN_BW: average bus bandwidth, GB/s, of which 0.9 must be reached. */
  readonly minBandwidth: number | undefined;
  /** The group of a process: processes of one group run together. Without processes there is one group, 0. */
  readonly group: (process: number) => number;
}

/**
 * The variables that nccl-tests reads.
 * @throws {PerfError} BAD_ARGUMENT for one that says nothing.
 */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): PerfEnvironment {
  const expected = "an object such as process.env";
  checkObject("variables", variables, expected);
  return readArgument("variables", expected, () => ({
    firstDevice: numberIn(variables, "NCCL_TESTS_DEVICE", /^\d+$/),
    minBandwidth: numberIn(variables, "NCCL_TESTS_MIN_BW", /^\d+(\.\d+)?$/),
    group: splitOf(variables),
  }));
}

function numberIn(variables: Readonly<Record<string, string | undefined>>, name: string, shape: RegExp): number | undefined {
  const text = variables[name];
  if (text === undefined || text === "") return undefined;
  if (!shape.test(text)) throw new PerfError("BAD_ARGUMENT", `${name} can't be "${text}".`, "Set it to a number, or unset it.");
  return Number(text);
}

const operators: Readonly<Record<string, (process: number, value: number) => number>> = {
  AND: (process, value) => process & value,
  OR: (process, value) => process | value,
  MOD: (process, value) => process % value,
  DIV: (process, value) => Math.floor(process / value),
};
const signs: Readonly<Record<string, string>> = { "&": "AND", "|": "OR", "%": "MOD", "/": "DIV" };

function splitOf(variables: Readonly<Record<string, string | undefined>>): (process: number) => number {
  const { NCCL_TESTS_SPLIT: split, NCCL_TESTS_SPLIT_MASK: mask } = variables;
  if (split) {
    const [, operator = "", digits = ""] = /^\s*([A-Za-z]+|[&|%/])\s*(0[xX][0-9a-fA-F]+|\d+)\s*$/.exec(split) ?? [];
    const apply = operators[signs[operator] ?? operator.toUpperCase()];
    const value = Number(digits || Number.NaN);
    if (apply === undefined || Number.isNaN(value) || (value === 0 && /^(MOD|DIV|%|\/)/i.test(operator))) {
      const remedy = "Set it to AND, OR, MOD or DIV (or &, |, %, /) and a number, such as MOD2, or unset it.";
      throw new PerfError("BAD_ARGUMENT", `NCCL_TESTS_SPLIT can't be "${split}".`, remedy);
    }
    return (process) => apply(process, value);
  }
  if (mask) {
    if (!/^(0[xX])?[0-9a-fA-F]+$/.test(mask)) {
      throw new PerfError("BAD_ARGUMENT", `NCCL_TESTS_SPLIT_MASK can't be "${mask}".`, "Set it to hexadecimal digits, or unset it.");
    }
    const bits = Number.parseInt(mask, 16);
    return (process) => process & bits;
  }
  return () => 0;
}
