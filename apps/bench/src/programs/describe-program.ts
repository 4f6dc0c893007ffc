import type { VerificationReport } from "@dfccl/primitives";
import { formatCount, formatTable } from "../terminal/table.js";
import type { LoadedProgram } from "./load-program.js";

/** What a program is like, in a table. */
export function describeProgram({ program, stages }: LoadedProgram, report: VerificationReport): string {
  const { ranks, inPlace, outOfPlace } = program;
  const blocks = ranks.map((rank) => rank.blocks.length);
  const scratch = Math.max(...ranks.map(({ scratchChunks }) => scratchChunks));
  const placement = inPlace && outOfPlace ? "in place or not" : inPlace ? "in place" : "not in place";
  const range = (values: readonly number[]): string => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return least === most ? formatCount(most) : `${formatCount(least)} to ${formatCount(most)}`;
  };
  return formatTable([
    ["collective", `${program.collective}, ${placement}`],
    ["ranks", formatCount(ranks.length)],
    ["chunks a segment", formatCount(program.chunksPerSegment)],
    ["protocol", `${program.protocol}, ${program.slotCount} slots`],
    ...(stages === undefined ? [] : [["operations", formatCount(stages.trace.operations.length)]]),
    ["steps", formatCount(report.steps)],
    ["blocks a rank", range(blocks)],
    ["connections", formatCount(report.connections)],
    ["scratch chunks a rank", formatCount(scratch)],
    ["same bits on every rank", report.sameBitsOnEveryRank ? "always" : "where the order of adding doesn't matter"],
  ]);
}
