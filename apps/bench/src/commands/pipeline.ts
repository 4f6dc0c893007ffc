import { gpipeCounts, leastCounts, oneFlowCounts, type Pass, type PipelineCounts, simulatePipeline } from "@dfccl/actor";
import type { Command } from "commander";
import { drawPipelines, type PipelineLane } from "../drawing/draw-pipeline.js";
import { writeOutput } from "../outputs/write-output.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { say } from "../terminal/say.js";
import { formatTable } from "../terminal/table.js";
import { numberBetween, outputFileOf, wholeNumber } from "./options.js";

interface PipelineFlags {
  readonly stages: number;
  readonly microBatches: number;
  readonly forwardMs: number;
  readonly backwardMs: number;
  readonly output?: string;
}

export function addPipelineCommand(program: Command): void {
  program
    .command("pipeline")
    .summary("how register counts alone order a pipeline")
    .description(
      "Runs a pipeline of actors in virtual time with three sets of register counts, which are all that orders it, and prints the " +
        "order of passes in each stage, or draws it.",
    )
    .option("-s, --stages <n>", "stages", wholeNumber(1, 64), 4)
    .option("-m, --micro-batches <n>", "micro-batches", wholeNumber(1, 1000), 8)
    .option("--forward-ms <ms>", "time of a forward pass", numberBetween(0.001, 1e6), 1)
    .option("--backward-ms <ms>", "time of a backward pass", numberBetween(0.001, 1e6), 2)
    .option("-o, --output <file>", "draw it as SVG", outputFileOf(".svg"))
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl pipeline
  $ dfccl pipeline --stages 8 --micro-batches 32 -o pipeline.svg

${exitCodesText({ 0: "shown", 1: "failed", 2: "usage" })}`,
    )
    .action(showPipelines);
}

async function showPipelines({ stages, microBatches, forwardMs, backwardMs, output }: PipelineFlags): Promise<void> {
  const settings: readonly (readonly [string, PipelineCounts])[] = [
    ["S − s results a stage: one forward, one backward", leastCounts(stages)],
    ["OneFlow's counts: 2S between the passes", oneFlowCounts(stages)],
    ["all packed, and room for all: GPipe", gpipeCounts(microBatches)],
  ];
  const lanes: PipelineLane[] = [];
  for (const [title, counts] of settings) {
    lanes.push({ title, passes: await simulatePipeline({ stages, microBatches, counts, forwardMs, backwardMs }) });
  }
  say(lanes.map(describeLane).join("\n\n"));
  const subtitle = `${stages} stages, ${microBatches} micro-batches; forward ${forwardMs} ms, backward ${backwardMs} ms. Nothing schedules the passes but free registers.`;
  if (output !== undefined) writeOutput(output, drawPipelines("The order of a pipeline, from its register counts", subtitle, lanes));
}

function describeLane({ title, passes }: PipelineLane): string {
  const end = passes.flat().reduce((latest, { endedAt }) => Math.max(latest, endedAt), 0);
  const rows = passes.map((own, stage) => [`stage ${stage}`, own.map(nameOf).join(" "), `${mostOutstanding(own)}`]);
  const widest = Math.max(...rows.map(([, order = ""]) => order.length));
  const padded = rows.map(([stage = "", order = "", most = ""]) => [stage, order.padEnd(widest), most]);
  return `${title}, ${end} ms\n${formatTable(padded, ["", "passes".padEnd(widest), "held"])}`;
}

function nameOf({ pass, microBatch }: Pass): string {
  return `${pass === "forward" ? "F" : "B"}${microBatch + 1}`;
}

/** Most forward results that wait for their backward pass: what memory must hold. */
function mostOutstanding(passes: readonly Pass[]): number {
  let now = 0;
  let most = 0;
  for (const { pass } of passes) {
    now += pass === "forward" ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}
