import { describe, expect, it } from "vitest";
import { type CompletedRun, openWorld, type RegisteredCollective } from "../src/index.js";
import { expectFault } from "./support/faults.js";
import { failureOf, rankOf } from "./support/open.js";

interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** WebAssembly isn't in the libraries that this workspace compiles with. */
function growingMemory(): WasmMemory {
  type Wasm = { readonly Memory: new (limits: { initial: number; maximum: number }) => WasmMemory };
  const { Memory } = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly;
  return new Memory({ initial: 1, maximum: 2 });
}

const barrier = { collective: "barrier", dataType: "int8", count: 0 } as const;

describe("a batch", () => {
  it("delivers each completion once, with its position, after submit() has returned", async () => {
    using world = openWorld({ ranks: 1 });
    const rank = rankOf(world, 0);
    const collectives = [0, 1, 2].map((id) => rank.register({ id, ...barrier }));
    const runs: CompletedRun[] = [];
    let hasReturned = false;
    const batch = rank.submit(
      Array.from({ length: 30 }, (_, i) => [collectives[i % 3] as RegisteredCollective] as const),
      {
        onComplete: (run) => {
          expect(hasReturned).toBe(true);
          runs.push(run);
        },
      },
    );
    hasReturned = true;
    expect(batch.size).toBe(30);
    expect(batch.pending).toBe(30);
    await batch;
    expect(batch.pending).toBe(0);
    expect(runs.map(({ position }) => position).sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i));
    expect(runs.every(({ position, collective, status }) => collective === collectives[position % 3] && status === "completed")).toBe(true);
  });

  it("resolves at once when it is empty, and as often as it is awaited", async () => {
    using world = openWorld({ ranks: 1 });
    await rankOf(world, 0).submit([]);
    const batch = rankOf(world, 0).submit([[rankOf(world, 0).register({ id: 1, ...barrier })]]);
    await Promise.all([batch, batch, batch]);
    await batch;
    expect(batch.pending).toBe(0);
  });

  it("may be followed by another from its own callbacks", async () => {
    using world = openWorld({ ranks: 1, submissionSlots: 8, completionSlots: 8 });
    const rank = rankOf(world, 0);
    const collective = rank.register({ id: 1, ...barrier });
    let submitted = 1;
    let completed = 0;
    await new Promise<void>((resolve) => {
      const onComplete = (): void => {
        completed += 1;
        if (completed === 999) resolve();
        if (submitted === 999) return;
        submitted += 2;
        rank.submit([[collective], [collective]], { onComplete });
      };
      rank.submit([[collective]], { onComplete });
    });
    expect(completed).toBe(999);
  });

  it("loses nothing when it is larger than every queue, nor mixes the order of a collective's runs", async () => {
    using world = openWorld({ ranks: 2, submissionSlots: 4, completionSlots: 8 });
    const count = 500;
    const results = await Promise.all(
      world.ranks.map(async (rank) => {
        const collective = rank.register({ id: 1, collective: "all-reduce", dataType: "uint32", count: 1 });
        // Each run adds what the run before left: 1, 2, 4, … modulo 2^32, which only the order of submission gives.
        const cells = Array.from({ length: count + 1 }, (_, i) => Uint32Array.of(i === 0 ? 1 : 0));
        const positions: number[] = [];
        const requests = Array.from({ length: count }, (_, i) => [collective, cells[i], cells[i + 1]] as const);
        const batch = rank.submit(requests, { onComplete: ({ position }) => positions.push(position) });
        expect(rank.pendingRuns).toBe(count);
        await batch;
        return { positions, last: cells.slice(0, 33).map((cell) => cell[0]) };
      }),
    );
    for (const { positions, last } of results) {
      expect(positions).toEqual(Array.from({ length: count }, (_, i) => i));
      expect(last).toEqual(Array.from({ length: 33 }, (_, i) => 2 ** i % 2 ** 32));
    }
  });

  it("keeps to the lists as they were at submission, also for what waits for room", async () => {
    using world = openWorld({ ranks: 1, submissionSlots: 4, completionSlots: 8 });
    const rank = rankOf(world, 0);
    const collective = rank.register({ id: 1, collective: "all-reduce", dataType: "int32", count: 1 });
    const source = Int32Array.of(5);
    const targets = Array.from({ length: 40 }, () => new Int32Array(1));
    const elsewhere = new Int32Array(1);
    const requests = targets.map((target): [RegisteredCollective, Int32Array, Int32Array] => [collective, source, target]);
    const batch = rank.submit(requests);
    for (const request of requests) request[2] = elsewhere;
    requests.length = 0;
    await batch;
    expect(targets.map(([value]) => value)).toEqual(Array(40).fill(5));
    expect(elsewhere[0]).toBe(0);
  });

  it("lets other batches of the rank wait their turn behind it", async () => {
    using world = openWorld({ ranks: 1, submissionSlots: 4, completionSlots: 8 });
    const rank = rankOf(world, 0);
    const collective = rank.register({ id: 1, ...barrier });
    const order: string[] = [];
    const batches = ["a", "b", "c"].map((name) =>
      rank.submit(
        Array.from({ length: 20 }, () => [collective] as const),
        { onComplete: () => order.push(name) },
      ),
    );
    await Promise.all(batches);
    expect(order.join("")).toBe("a".repeat(20) + "b".repeat(20) + "c".repeat(20));
  });

  it("refuses a run whose buffer is detached while it waits for room, and goes on with the others", async () => {
    using world = openWorld({ ranks: 1, submissionSlots: 4, completionSlots: 8 });
    const rank = rankOf(world, 0);
    const collective = rank.register({ id: 1, collective: "all-reduce", dataType: "int32", count: 1 });
    const source = Int32Array.of(7);
    const targets = Array.from({ length: 40 }, () => new Int32Array(1));
    // The memory of WebAssembly is detached when it grows.
    const memory = growingMemory();
    targets[20] = new Int32Array(memory.buffer, 0, 1);
    const refused: number[] = [];
    const batch = rank.submit(
      targets.map((target) => [collective, source, target] as const),
      {
        onComplete: ({ position, status }) => {
          if (status === "refused") refused.push(position);
        },
      },
    );
    memory.grow(1);
    expectFault(await failureOf(batch), "BUFFER", { detached: true });
    expect(refused).toEqual([20]);
    expect(targets.flatMap((target) => (target.length === 0 ? [] : [...target]))).toEqual(Array(39).fill(7));
    collective.unregister();
  });
});
