import { openWorld } from "@dfccl/core";
import { DfcclError, SeededRandom } from "@dfccl/primitives";
import { afterEach, describe, expect, it } from "vitest";
import {
  type Communicator,
  coreCommunicator,
  type GradientReducer,
  type GradientTensor,
  inProcessTransports,
  openReducer,
  type ReducerOptions,
  scheduleNames,
} from "../src/index.js";
import { shuffled } from "./support/shuffled.js";

const tensors: readonly GradientTensor[] = [7, 300, 1, 64, 5000, 12].map((elements, id) => ({ id: id + 3, elements }));
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

function openAll(ranks: number, options: Partial<ReducerOptions>): GradientReducer[] {
  const world = openWorld({ ranks });
  closers.push(() => world.close());
  const transports = inProcessTransports(ranks);
  return world.ranks.map((rank, position) => {
    const transport = transports[position];
    return openReducer({ communicator: coreCommunicator(rank), tensors, ...(transport ? { transport } : {}), ...options });
  });
}

/** Every rank hands its gradients in in an order of its own, in turns of the event loop of its own. */
async function step(reducers: readonly GradientReducer[], number: number, random: SeededRandom): Promise<void> {
  await Promise.all(
    reducers.map(async (reducer, rank) => {
      const results = new Map<number, Float32Array>();
      for (const { id, elements } of shuffled(tensors, random)) {
        const data = new Float32Array(elements).fill(number * 100 + id + rank);
        results.set(id, data);
        reducer.ready(id, data);
        if (random.below(2) === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      await reducer.endStep();
      const mean = (reducers.length - 1) / 2;
      for (const [id, data] of results) expect(new Set(data)).toEqual(new Set([number * 100 + id + mean]));
    }),
  );
}

const variants: readonly (readonly [string, Partial<ReducerOptions>])[] = [
  ...scheduleNames.map((schedule) => [schedule, { schedule }] as const),
  ["coordinator without fusion", { schedule: "coordinator", coordinator: { fusionBytes: 0 } }],
  ["coordinator that fuses without copies", { schedule: "coordinator", coordinator: { isCopied: false } }],
  ["static, one by one", { schedule: "static", static: { maxGroupSize: 1 } }],
  ["negotiation in a star", { negotiation: "star" }],
  ["negotiation along a chain", { negotiation: "chain" }],
];

describe("gradient reducers", () => {
  it.each(variants)("%s: every step ends with the mean of all ranks in every gradient", async (_name, options) => {
    const reducers = openAll(3, options);
    const random = new SeededRandom(11);
    for (let number = 0; number < 8; number += 1) await step(reducers, number, random);
    for (const reducer of reducers) {
      expect(reducer.statistics().reduced).toBe(8 * tensors.length);
      reducer.close();
      reducer.close();
    }
  });

  it("fuse under the coordinator, and never otherwise", async () => {
    for (const schedule of scheduleNames) {
      const reducers = openAll(2, { schedule });
      for (const reducer of reducers) for (const { id, elements } of tensors) reducer.ready(id, new Float32Array(elements));
      await Promise.all(reducers.map((reducer) => reducer.endStep()));
      for (const reducer of reducers) {
        expect(reducer.statistics().submitted).toBe(schedule === "coordinator" ? 1 : tensors.length);
        expect(reducer.statistics().messages > 0).toBe(schedule === "coordinator" || schedule === "learned");
      }
    }
  });

  it("say which gradient an order waits for", async () => {
    for (const schedule of ["static", "learned"] as const) {
      const [reducer] = openAll(1, { schedule });
      for (const { id, elements } of tensors.slice(0, -1)) reducer?.ready(id, new Float32Array(elements));
      const error = await reducer?.endStep().catch((failure: unknown) => failure);
      expect(error).toBeInstanceOf(DfcclError);
      expect(error).toMatchObject({ code: "INCOMPLETE_STEP", facts: { missing: ["8"], held: 5 } });
    }
  });

  it("refuse wrong gradients with a remedy, and go on", async () => {
    const [reducer] = openAll(1, {});
    expect(() => reducer?.ready(99, new Float32Array(1))).toThrow("isn't known");
    expect(() => reducer?.ready(3, new Float32Array(8))).toThrow("Give a Float32Array of 7");
    reducer?.ready(3, new Float32Array(7));
    expect(() => reducer?.ready(3, new Float32Array(7))).toThrow("being reduced already");
    await reducer?.endStep();
  });

  /** Ends every run later, as one rank alone would, or can't submit any. */
  const pretending = (failure?: Error): Communicator => ({
    rank: 0,
    size: 1,
    allocate: (elements) => new Float32Array(elements),
    register: ({ id, elements }) => ({ id, elements, close: () => undefined }),
    submit(requests, onEnd) {
      if (failure !== undefined) throw failure;
      queueMicrotask(() => requests.forEach((_, position) => void onEnd(position, undefined)));
    },
  });

  it.each(variants)("%s: end a step of which nothing can be submitted with what was thrown", async (_name, options) => {
    const failure = new Error("no room");
    const [reducer] = openAll(1, { ...options, communicator: pretending(failure) });
    const reductions = tensors.map(({ id, elements }) => reducer?.reduce(id, new Float32Array(elements)));
    const outcomes = await Promise.allSettled([...reductions, reducer?.endStep()]);
    expect(outcomes).toEqual(outcomes.map(() => ({ status: "rejected", reason: failure })));
    await reducer?.endStep();
  });

  it.each(variants)("%s: end a step with what a callback throws", async (_name, options) => {
    const failure = new Error("the caller's own");
    const [reducer] = openAll(1, { ...options, communicator: pretending() });
    for (const { id, elements } of tensors) {
      reducer?.ready(id, new Float32Array(elements), () => {
        throw failure;
      });
    }
    await expect(reducer?.endStep()).rejects.toBe(failure);
    expect(reducer?.statistics().reduced).toBe(tensors.length);
  });

  it("say which gradient a learned order waits for also where the step began before the order was known", async () => {
    const deliveries: (() => void)[] = [];
    const transports = inProcessTransports(2, { defer: (deliver) => void deliveries.push(deliver) });
    const [first, second] = transports.map((transport, rank) =>
      openReducer({ communicator: { ...pretending(), rank, size: 2 }, tensors, schedule: "learned", transport }),
    );
    for (const { id, elements } of tensors) {
      first?.ready(id, new Float32Array(elements));
      second?.ready(id, new Float32Array(elements));
    }
    await second?.endStep();
    for (const { id, elements } of tensors.slice(1)) second?.ready(id, new Float32Array(elements));
    const ended = expect(second?.endStep()).rejects.toMatchObject({ code: "INCOMPLETE_STEP", facts: { missing: ["3"], held: 5 } });
    while (deliveries.length > 0) deliveries.shift()?.();
    await ended;
  });

  it.each<readonly [string, Partial<ReducerOptions>]>([
    ["an unknown schedule", { schedule: "best" as "static" }],
    ["an unknown negotiation", { negotiation: "ring" as "star" }],
    ["no tensors", { tensors: [] }],
    ["a tensor without elements", { tensors: [{ id: 1, elements: 0 }] }],
    ["an id given twice", { tensors: [1, 1].map((id) => ({ id, elements: 1 })) }],
    ["an order that leaves tensors out", { schedule: "static", static: { order: [3] } }],
    ["a transport of other ranks", { schedule: "learned", transport: inProcessTransports(5)[4] as never }],
    ["a cycle of no length", { schedule: "coordinator", coordinator: { cycleMs: 0 } }],
  ])("are not opened with %s", (_name, options) => {
    expect(() => openAll(1, options)).toThrow(DfcclError);
  });

  it("tell what a closed world left behind", async () => {
    const world = openWorld({ ranks: 2 });
    const [rank] = world.ranks;
    if (rank === undefined) throw new Error("no rank");
    const reducer = openReducer({ communicator: coreCommunicator(rank), tensors });
    const reduction = reducer.reduce(3, new Float32Array(7));
    world.close();
    await expect(reduction).rejects.toMatchObject({ code: "CLOSED" });
    await expect(reducer.endStep()).rejects.toMatchObject({ code: "CLOSED" });
  });
});

it.each([undefined, 5, {}, [], [null]])("tensors that are %o are refused", (wrong) => {
  expect(() => openAll(1, { tensors: wrong as never })).toThrow(
    expect.objectContaining({ code: "INVALID_ARGUMENT", facts: expect.objectContaining({ argument: expect.stringMatching(/^tensors/) }) }),
  );
});

it("no messages are made for more ranks than there can be", () => {
  for (const size of [0, 65_537, 2 ** 53]) expect(() => inProcessTransports(size)).toThrow("from 1 to 65536");
});
