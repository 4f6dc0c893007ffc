import { writeFileSync } from "node:fs";
import { dataTypeOf, type PerfCase, reduceOpOf } from "@dfccl/collective-tests";
import { dataTypeCode, reduceOpCode } from "@dfccl/primitives";

/** What the native loop measures: a line a case, warm-ups with a "w" before them. */
export function writeCases(path: string, warmUps: readonly PerfCase[], cases: readonly PerfCase[]): void {
  const line = ({ count, type, op, root, iterations }: PerfCase): string =>
    `${count} ${dataTypeCode(dataTypeOf(type))} ${reduceOpCode(reduceOpOf(op === "none" ? "sum" : op))} ${Math.max(root, 0)}${iterations === undefined ? "" : ` ${iterations}`}\n`;
  writeFileSync(path, warmUps.map((one) => `w${line(one)}`).join("") + cases.map(line).join(""));
}
