import { SeededRandom } from "@dfccl/primitives";
import { type LogicalGraph, type LogicalOp, type NdSbp, type Placement, parseSbp, placement } from "../../src/index.js";

/** How a network is spread: data × tensor parallelism in each of so many pipeline stages. */
export interface Spread {
  readonly dp: number;
  readonly tp: number;
  readonly pp: number;
  readonly microBatches: number;
}

export interface Network {
  /** Widths, the input's first. */
  readonly widths: readonly number[];
  readonly batch: number;
  readonly rate: number;
}

/** Ranks of a stage, tensor-parallel neighbours first. */
function stagePlacement({ dp, tp }: Spread, stage: number): Placement {
  const size = dp * tp;
  return placement(
    Array.from({ length: size }, (_, index) => stage * size + index),
    [dp, tp],
  );
}

/**
 * A multi-layer perceptron with its backward pass written out. Weights are split by columns in even layers and by rows in
 * odd ones, so that activations are reduced once for two layers.
 */
export function mlpGraph({ widths, batch, rate }: Network, spread: Spread): LogicalGraph {
  const layers = widths.length - 1;
  const times = spread.microBatches;
  const ops: LogicalOp[] = [];
  const stageOf = (layer: number): number => Math.floor((layer * spread.pp) / layers);
  const place = (layer: number): Placement => stagePlacement(spread, stageOf(layer));
  const add = (layer: number, pass: "forward" | "backward", op: Omit<LogicalOp, "stage" | "pass" | "sbp">, sbp?: string): string => {
    ops.push({ placement: place(layer), ...op, stage: stageOf(layer), pass, ...(sbp === undefined ? {} : { sbp: sbpOf(sbp) }) });
    return op.name;
  };
  const last = layers - 1;
  add(0, "forward", { name: "x", op: "input", shape: [batch, widths[0] ?? 0] }, "(B, B)");
  add(last, "forward", { name: "t", op: "input", shape: [batch, widths[layers] ?? 0] }, "(B, B)");
  add(0, "forward", { name: "h0", op: "unpack", inputs: ["x"], attributes: { times } });
  add(last, "forward", { name: "target", op: "unpack", inputs: ["t"], attributes: { times } });

  for (let layer = 0; layer < layers; layer += 1) {
    const isColumns = layer % 2 === 0;
    add(
      layer,
      "forward",
      { name: `w${layer}`, op: "variable", shape: [widths[layer] ?? 0, widths[layer + 1] ?? 0] },
      isColumns ? "(B, S1)" : "(B, S0)",
    );
    add(layer, "forward", { name: `b${layer}`, op: "variable", shape: [widths[layer + 1] ?? 0] }, isColumns ? "(B, S0)" : "(B, B)");
    for (const name of [`w${layer}`, `b${layer}`])
      add(layer, "forward", { name: `${name}s`, op: "repeat", inputs: [name], attributes: { times } });
    add(layer, "forward", { name: `p${layer}`, op: "matmul", inputs: [`h${layer}`, `w${layer}s`] }, isColumns ? "(S0, S1)" : "(S0, P)");
    const biased = layer === last ? `h${layers}` : `z${layer}`;
    add(layer, "forward", { name: biased, op: "add-bias", inputs: [`p${layer}`, `b${layer}s`] }, isColumns ? "(S0, S1)" : "(S0, B)");
    if (layer < last) add(layer, "forward", { name: `h${layer + 1}`, op: "relu", inputs: [biased] });
  }

  const scale = 1 / batch;
  add(last, "forward", { name: "loss", op: "half-squared-error", inputs: [`h${layers}`, "target"], attributes: { scale } });
  add(last, "forward", { name: "losses", op: "output", inputs: ["loss"] }, "(B, B)");
  add(last, "backward", { name: `dz${last}`, op: "difference", inputs: [`h${layers}`, "target"], attributes: { scale } });
  for (let layer = last; layer >= 0; layer -= 1) {
    const dz = `dz${layer}`;
    if (layer < last) add(layer, "backward", { name: dz, op: "relu-gradient", inputs: [`dh${layer + 1}`, `h${layer + 1}`] });
    add(layer, "backward", { name: `dw${layer}`, op: "matmul", inputs: [`h${layer}`, dz], attributes: { transposeA: 1 } });
    add(layer, "backward", { name: `db${layer}`, op: "sum-rows", inputs: [dz] });
    for (const name of [`w${layer}`, `b${layer}`]) {
      add(layer, "backward", { name: `sum of d${name}`, op: "accumulate", inputs: [`d${name}`], attributes: { times } });
      add(layer, "backward", { name: `update ${name}`, op: "update", inputs: [name, `sum of d${name}`], attributes: { rate } });
    }
    if (layer > 0) add(layer, "backward", { name: `dh${layer}`, op: "matmul", inputs: [dz, `w${layer}s`], attributes: { transposeB: 1 } });
  }
  return ops;
}

function sbpOf(text: string): NdSbp {
  return parseSbp(text);
}

export interface TrainingData {
  readonly initial: Readonly<Record<string, Float32Array>>;
  readonly feeds: Readonly<Record<"x" | "t", (step: number) => Float32Array>>;
}

export function trainingData({ widths, batch }: Network, seed: number): TrainingData {
  const random = new SeededRandom(seed);
  const normal = (length: number, scale: number): Float32Array =>
    Float32Array.from({ length }, () => ((random.below(2001) - 1000) / 1000) * scale);
  const initial: Record<string, Float32Array> = {};
  for (let layer = 0; layer < widths.length - 1; layer += 1) {
    const [from = 0, to = 0] = widths.slice(layer, layer + 2);
    initial[`w${layer}`] = normal(from * to, Math.sqrt(3 / from));
    initial[`b${layer}`] = normal(to, 0.1);
  }
  const batches = (width: number, scale: number): ((step: number) => Float32Array) => {
    const all = Array.from({ length: 5 }, () => normal(batch * width, scale));
    return (step) => all[step % all.length] as Float32Array;
  };
  return { initial, feeds: { x: batches(widths[0] ?? 0, 1), t: batches(widths.at(-1) ?? 0, 1) } };
}
