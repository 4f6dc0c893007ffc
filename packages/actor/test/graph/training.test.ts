import { openWorld } from "@dfccl/core";
import { describe, expect, it } from "vitest";
import { type CollectiveLibrary, compileGraph, coreCollectives, runActors } from "../../src/index.js";
import { mlpGraph, type Network, type Spread, trainingData } from "../support/mlp.js";
import { trainPlainly } from "../support/plain-mlp.js";

const network: Network = { widths: [6, 8, 10, 8, 4], batch: 16, rate: 0.1 };
const data = trainingData(network, 42);
const steps = 50;

/** Each rank keeps what it has. */
const deaf: CollectiveLibrary = {
  open: () => (send, recv, done) => {
    if (send !== undefined) recv?.set(send.subarray(0, recv.length));
    done();
  },
};

async function train(spread: Spread, library?: CollectiveLibrary) {
  const ranks = spread.dp * spread.tp * spread.pp;
  const world = openWorld({ ranks });
  try {
    const losses: number[] = [];
    const graph = mlpGraph(network, spread);
    const compiled = compileGraph(graph, {
      ...data,
      steps,
      collectives: library ?? coreCollectives(world),
      onOutput: ({ record, rank, data: [loss = 0] }) => {
        if (rank !== ranks - 1) return;
        const step = Math.floor(record / spread.microBatches);
        losses[step] = (losses[step] ?? 0) + loss;
      },
    });
    await runActors(compiled.plan).finished;
    const names = Object.keys(data.initial);
    return { compiled, losses, parameters: new Map(names.map((name) => [name, compiled.readVariable(name)])) };
  } finally {
    world.close();
  }
}

const single: Spread = { dp: 1, tp: 1, pp: 1, microBatches: 1 };

describe("a network trained for 50 steps", () => {
  const plain = trainPlainly(network, data, steps);

  it("by the graph on one rank has the parameters of plain loops", async () => {
    const { losses, parameters } = await train(single);
    expect(losses).toHaveLength(steps);
    losses.forEach((loss, step) => {
      expect(Math.abs(loss / (plain.losses[step] ?? 0) - 1)).toBeLessThan(1e-5);
    });
    expect(losses[steps - 1]).toBeLessThan(0.9 * (losses[0] ?? 0));
    for (const [name, values] of parameters) expect(farthest(values, plain.parameters.get(name) ?? [])).toBeLessThan(1e-5);
  });

  it.each<readonly [string, Spread]>([
    ["gradient accumulation", { ...single, microBatches: 4 }],
    ["data parallelism on 4 ranks", { ...single, dp: 4 }],
    ["data parallelism on 3 ranks, which don't divide the batch", { ...single, dp: 3 }],
    ["tensor parallelism on 2 ranks, columns and rows", { ...single, tp: 2 }],
    ["tensor parallelism on 3 ranks, which don't divide the widths", { ...single, tp: 3 }],
    ["a pipeline of 2 stages", { ...single, pp: 2, microBatches: 4 }],
    ["a pipeline of 4 stages", { ...single, pp: 4, microBatches: 8 }],
    ["data × tensor", { dp: 2, tp: 2, pp: 1, microBatches: 2 }],
    ["data × pipeline", { dp: 2, tp: 1, pp: 2, microBatches: 4 }],
    ["tensor × pipeline", { dp: 1, tp: 2, pp: 2, microBatches: 4 }],
    ["data × tensor × pipeline on 8 ranks", { dp: 2, tp: 2, pp: 2, microBatches: 4 }],
  ])("%s: the same parameters as on one rank, to 1e-4", async (_name, spread) => {
    const one = await train(single);
    const spreadOut = await train(spread);
    for (const [name, values] of spreadOut.parameters) expect(farthest(values, one.parameters.get(name) ?? [])).toBeLessThan(1e-4);
    spreadOut.losses.forEach((loss, step) => {
      expect(Math.abs(loss / (one.losses[step] ?? 0) - 1)).toBeLessThan(1e-4);
    });
  });

  it("control: ranks that hear nothing of each other get other parameters", async () => {
    const one = await train(single);
    const { parameters } = await train({ ...single, dp: 2 }, deaf);
    expect(farthest(parameters.get("w0") ?? [], one.parameters.get("w0") ?? [])).toBeGreaterThan(1e-3);
  });
});

function farthest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  return Math.max(...Array.from(a, (value, index) => Math.abs(value - (b[index] ?? Number.NaN))));
}
