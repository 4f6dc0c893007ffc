import { type Command, Option } from "commander";
import { drawSchedule } from "../drawing/draw-schedule.js";
import { drawChunkDag, drawInstructionDag, writesChunk } from "../drawing/draw-stages.js";
import { writeOutput } from "../outputs/write-output.js";
import { type LoadedProgram, loadProgram } from "../programs/load-program.js";
import { ProgramFileError } from "../programs/program-file-error.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { withStages } from "../terminal/stages.js";
import { outputFileOf, refuseIdle, wholeNumber } from "./options.js";
import { addLoadOptions, type LoadFlags } from "./program-options.js";

interface DrawFlags extends LoadFlags {
  readonly what: "chunks" | "instructions" | "schedule";
  readonly chunk?: number;
  readonly output?: string;
}

export function addDrawCommand(program: Command): void {
  addLoadOptions(program.command("draw"))
    .summary("draw a program as SVG: chunk DAG, instruction DAG, or who does what when")
    .description("Draws a program as SVG. An MSCCL file has a schedule only.")
    .addOption(new Option("-w, --what <what>", "what to draw").choices(["chunks", "instructions", "schedule"]).default("schedule"))
    .option("-c, --chunk <n>", "of a DAG, only what writes this chunk: large programs are easier to read so", wholeNumber(0, 2 ** 20))
    .option("-o, --output <file>", "where to write it (default: standard output)", outputFileOf(".svg"))
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl draw ring.ts -o ring.svg
  $ dfccl draw hierarchical.ts --what instructions --chunk 0 -o chunk-0.svg

${exitCodesText({ 0: "drawn", 1: "refused: it isn't right", 2: "usage, no program in the file, or too large to be drawn" })}`,
    )
    .action(async (file: string, flags: DrawFlags, command: Command) => {
      if (flags.what === "schedule") refuseIdle(command, ["chunk"], "is for --what chunks and --what instructions");
      const svg = await withStages(async (begin) => {
        const loaded = await loadProgram(file, flags, begin);
        begin(`Drawing ${file}`);
        return draw(file, loaded, flags);
      });
      if (flags.output === undefined) process.stdout.write(svg);
      else writeOutput(flags.output, svg);
    });
}

function draw(file: string, { name, program, compiled }: LoadedProgram, { what, chunk }: DrawFlags): string {
  if (what === "schedule") return drawSchedule(name, program);
  if (compiled === undefined) throw new ProgramFileError(file, "an MSCCL file has no DAGs", "Draw its schedule: --what schedule.");
  if (chunk !== undefined && !writesChunk(compiled, chunk))
    throw new ProgramFileError(file, `nothing writes a chunk ${chunk}`, "Chunks of a buffer count from 0.");
  return what === "chunks" ? drawChunkDag(compiled, chunk) : drawInstructionDag(compiled, chunk);
}
