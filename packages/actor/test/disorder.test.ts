import { DeadlockError, openWorld, type World, type WorldOptions } from "@dfccl/core";
import { SeededRandom } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import {
  compileGraph,
  coreCollectives,
  coreCommunicator,
  type GradientTensor,
  inProcessTransports,
  KernelError,
  openReducer,
  rankOf,
  runActors,
  type ScheduleName,
  type Transport,
} from "../src/index.js";
import { mlpGraph, type Network, trainingData } from "./support/mlp.js";
import { shuffled } from "./support/shuffled.js";

const wanted = 1000;
const ranks = 4;
const tensors: readonly GradientTensor[] = [3, 700, 1, 64, 9000, 128, 17, 2048, 5, 333].map((elements, id) => ({ id, elements }));

/**
 * Every rank trains on its own: gradients come in an order of its own, new in each step, with pauses and device synchronizations at
 * random. @returns steps done by all ranks.
 */
async function trainInDisorder(world: World, seed: number, schedule: ScheduleName = "preemptive", steps = wanted): Promise<number> {
  const transports = inProcessTransports(ranks);
  const done = await Promise.all(
    world.ranks.map(async (rank) => {
      const random = new SeededRandom(seed + rank.number);
      const transport = transports[rank.number] as Transport;
      const reducer = openReducer({ communicator: coreCommunicator(rank, { op: "sum" }), tensors, schedule, transport });
      const gradients = tensors.map(({ elements }) => rank.allocate("float32", elements));
      let step = 0;
      for (; step < steps; step += 1) {
        for (const { id } of shuffled(tensors, random)) {
          const data = gradients[id] as Float32Array;
          data.fill(step + id + rank.number);
          reducer.ready(id, data);
          if (random.below(8) === 0) await new Promise((resolve) => setImmediate(resolve));
          if (random.below(50) === 0) await rank.synchronize();
        }
        await reducer.endStep();
        for (const { id, elements } of tensors) {
          const sum = ranks * (step + id) + (ranks * (ranks - 1)) / 2;
          const data = gradients[id] as Float32Array;
          if (data[0] !== sum || data[elements - 1] !== sum)
            throw new Error(`seed ${seed}, rank ${rank.number}, step ${step}: wrong sum of ${id}`);
        }
      }
      return step;
    }),
  );
  return Math.min(...done);
}

/** Trains a graph of two stages by two ranks each, with actors that act in random order. */
async function trainGraph(world: World, seed: number, graphSteps: number): Promise<number> {
  const network: Network = { widths: [4, 6, 6, 6, 2], batch: 8, rate: 0.05 };
  const random = new SeededRandom(seed);
  let losses = 0;
  const { plan } = compileGraph(mlpGraph(network, { dp: 2, tp: 1, pp: 2, microBatches: 2 }), {
    ...trainingData(network, seed),
    steps: graphSteps,
    collectives: coreCollectives(world),
    onOutput: () => {
      losses += 1;
    },
  });
  await runActors(plan, {
    pick: (ready) => ready[random.below(ready.length)],
    bus: {
      send: (message, deliver) => {
        // Messages of one rank keep their order; those between ranks overtake each other.
        const isBetween = message.kind !== "command" && rankOf(message.from) !== rankOf(message.to);
        if (isBetween && random.below(2) === 0) setImmediate(deliver, message);
        else queueMicrotask(() => deliver(message));
      },
    },
  }).finished;
  return losses;
}

async function withWorld<T>(options: Partial<WorldOptions<"cpu">>, use: (world: World) => Promise<T>): Promise<T> {
  const world = openWorld({ ranks, ...options });
  try {
    return await use(world);
  } finally {
    world.close();
  }
}

const seed = Math.floor(Math.random() * 2 ** 30);

describe(`ranks in orders of their own, with delays and device synchronizations (seed ${seed})`, () => {
  it(`end ${wanted} steps with exact sums`, async () => {
    expect(await withWorld({}, (world) => trainInDisorder(world, seed))).toBe(wanted);
  });

  it("control: the same deadlocks where nothing is preempted and each rank executes in its order", async () => {
    const outcome = withWorld({ policy: "in-order" }, (world) => trainInDisorder(world, seed));
    await expect(outcome).rejects.toBeInstanceOf(DeadlockError);
  });

  it.each(["static", "coordinator", "learned"] as const)(
    "%s: end without preemption too, because it makes one order for all ranks",
    async (schedule) => {
      expect(await withWorld({ policy: "in-order" }, (world) => trainInDisorder(world, seed, schedule, 100))).toBe(100);
    },
  );
});

describe(`actors of a graph that act in random order, with delayed messages (seed ${seed})`, () => {
  it("end 1,000 steps", async () => {
    expect(await withWorld({}, (world) => trainGraph(world, seed, wanted))).toBe(wanted * 2 * 2);
  });

  it("control: the same deadlock where nothing is preempted", async () => {
    const error = await withWorld({ policy: "in-order" }, (world) => trainGraph(world, seed, wanted)).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(KernelError);
    expect((error as KernelError).cause).toBeInstanceOf(DeadlockError);
  });
});
