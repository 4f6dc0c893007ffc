import { chooseBoxing, describeBoxing, layout, type NdSbp, parseSbp, placement } from "@dfccl/actor";
import { type Command, InvalidArgumentError as InvalidOption } from "commander";
import { drawBoxing } from "../drawing/draw-boxing.js";
import { writeOutput } from "../outputs/write-output.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { say } from "../terminal/say.js";
import { outputFileOf, wholeNumber } from "./options.js";

interface BoxingFlags {
  readonly shape: readonly number[];
  readonly ranks: readonly number[];
  readonly hierarchy?: readonly number[];
  readonly toRanks?: readonly number[];
  readonly toHierarchy?: readonly number[];
  readonly output?: string;
}

export function addBoxingCommand(program: Command): void {
  program
    .command("boxing")
    .argument("<from>", 'signature: "S0" (split along axis 0), "B" (broadcast), "P" (partial sum), "(S0, B)" for two dimensions', signature)
    .argument("<to>", "signature that is wanted", signature)
    .summary("which collectives bring a tensor from one layout to another")
    .description(
      "Chooses how a tensor gets from one SBP layout to another, and prints the steps with the bytes that they move, or draws them.",
    )
    .option("-s, --shape <extents>", "of the tensor", extents, [8, 8])
    .option("-r, --ranks <list>", "ranks that it lies on", rankList, [0, 1, 2, 3])
    .option("--hierarchy <extents>", "their grid (default: one dimension)", extents)
    .option("--to-ranks <list>", "ranks that it is wanted on (default: the same)", rankList)
    .option("--to-hierarchy <extents>", "their grid (default: the same, or one dimension for other ranks)", extents)
    .option("-o, --output <file>", "draw it as SVG", outputFileOf(".svg"))
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl boxing P S1 --shape 8x8
  $ dfccl boxing "(P, S0)" "(B, B)" --hierarchy 2x2 -o boxing.svg
  $ dfccl boxing P S0 --shape 5x3 --ranks 0,1 --to-ranks 2,3,4

${exitCodesText({ 0: "chosen", 1: "failed", 2: "usage, or a layout that is impossible" })}`,
    )
    .action(async (from: NdSbp, to: NdSbp, flags: BoxingFlags) => {
      const { shape, ranks, hierarchy, toRanks, toHierarchy = toRanks === undefined ? hierarchy : undefined } = flags;
      const boxing = chooseBoxing(
        layout(shape, from, placement(ranks, hierarchy)),
        layout(shape, to, placement(toRanks ?? ranks, toHierarchy)),
      );
      say(describeBoxing(boxing));
      if (flags.output !== undefined) writeOutput(flags.output, drawBoxing(boxing));
    });
}

function signature(text: string): NdSbp {
  try {
    return parseSbp(text);
  } catch (error) {
    throw new InvalidOption((error as Error).message);
  }
}

function extents(text: string): number[] {
  return text.split("x").map(wholeNumber(1, 2 ** 31));
}

function rankList(text: string): number[] {
  return text.split(",").map(wholeNumber(0, 65_535));
}
