import { type PathOrFileDescriptor, writeFileSync } from "node:fs";
import { dataTypeOf, type PerfCase, reduceOpOf } from "@dfccl/collective-tests";
import { dataTypeCode, reduceOpCode } from "@dfccl/primitives";

/** What the native loop measures: a line a case, warm-ups with a "w" before them, and what only buffers must hold with a "b". */
export function writeCases(
  to: PathOrFileDescriptor,
  warmUps: readonly PerfCase[],
  cases: readonly PerfCase[],
  buffersFor: readonly PerfCase[] = [],
): void {
  const line = ({ count, type, op, root, iterations = 0, program = 0 }: PerfCase): string => {
    const codes = [dataTypeCode(dataTypeOf(type)), reduceOpCode(reduceOpOf(op === "none" ? "sum" : op))];
    return `${[count, ...codes, Math.max(root, 0), iterations, program].join(" ")}\n`;
  };
  const lines = [...warmUps.map((one) => `w${line(one)}`), ...cases.map(line), ...buffersFor.map((one) => `b${line(one)}`)];
  writeFileSync(to, lines.join(""));
}
