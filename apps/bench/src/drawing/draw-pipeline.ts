import type { Pass } from "@dfccl/actor";
import { svgPage } from "./svg.js";

const rowHeight = 34;
const labelWidth = 70;
const laneGap = 46;
const colors = { forward: "#9cc9f0", backward: "#f5c08a" };

export interface PipelineLane {
  readonly title: string;
  /** By stage. */
  readonly passes: readonly (readonly Pass[])[];
}

/** Timelines of pipelines, one below the other: a row a stage, a box a pass with the number of its micro-batch. */
export function drawPipelines(title: string, subtitle: string, lanes: readonly PipelineLane[]): string {
  const end = Math.max(...lanes.flatMap(({ passes }) => passes.flat().map(({ endedAt }) => endedAt)));
  const scale = Math.min(26, 1100 / end);
  let y = 0;
  const parts: string[] = [];
  for (const lane of lanes) {
    const last = Math.max(...lane.passes.flat().map(({ endedAt }) => endedAt));
    parts.push(`<text x="0" y="${y + 14}" class="rank">${lane.title}</text>`);
    y += 24;
    for (const [stage, passes] of lane.passes.entries()) {
      parts.push(`<text x="${labelWidth - 10}" y="${y + 20}" class="row">stage ${stage}</text>`);
      parts.push(`<rect x="${labelWidth}" y="${y + 2}" width="${last * scale}" height="${rowHeight - 6}" fill="#f1f4f8"/>`);
      parts.push(...passes.map((pass) => drawPass(pass, y + 2, scale)));
      y += rowHeight;
    }
    y += laneGap;
  }
  return svgPage({
    width: labelWidth + end * scale,
    height: y - laneGap,
    title,
    subtitle,
    legend: [
      { text: "forward pass of a micro-batch", color: colors.forward, kind: "box" },
      { text: "backward pass", color: colors.backward, kind: "box" },
      { text: "idle", color: "#f1f4f8", kind: "box" },
    ],
    body: parts.join("\n"),
  });
}

function drawPass({ pass, microBatch, beganAt, endedAt }: Pass, y: number, scale: number): string {
  const [x, width, height] = [labelWidth + beganAt * scale, (endedAt - beganAt) * scale, rowHeight - 6];
  return (
    `<rect x="${x + 0.5}" y="${y}" width="${width - 1}" height="${height}" rx="3" fill="${colors[pass]}"/>` +
    `<text x="${x + width / 2}" y="${y + height / 2 + 4}" class="what">${microBatch + 1}</text>`
  );
}
