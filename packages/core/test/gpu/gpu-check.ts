// What holds of GPUs from TypeScript, in a program without a test framework: `npm run pack:gpu` bundles it for hosts that
// have neither npm nor a network. Prints a line for each; exits with 1 if one doesn't hold.
import assert from "node:assert/strict";
import { buildProgram, protocols } from "@dfccl/primitives";
import { DeviceBuffer, openWorld, type Rank, type RegisteredCollective, reportGpus, type World } from "../../src/index.js";

const checks: readonly (readonly [name: string, holds: () => Promise<void>])[] = [
  ["auto takes the GPU where one works", autoTakesTheGpu],
  ["an all-reduce adds up device buffers, in place and out of place", addsUp],
  ["runs in any order, with device synchronizations between, all complete and are exact", anyOrder],
  ["programs give the sum: rings of every protocol, and direct ones, in place and out of place", programsAddUp],
  ["callbacks come once each, and a batch of many is one publication", batches],
  ["a JavaScript thread that sleeps is woken", wakes],
  ["buffers that don't fit are refused with a typed error", refuses],
  ["a rank that never submits is named when the time is over", timesOut],
  ["an abort ends a stuck run at once; after the quarantine the id is free again", aborts],
  ["memory is given back, and not while a run uses it", gives],
  ["closing with runs in flight fails them, and opening again works", closes],
];

function open(ranks = Math.max(2, reportGpus().devices.length)): World<"cuda"> {
  return openWorld({ ranks, backend: "cuda", blocks: 8 });
}

function registerEverywhere(world: World<"cuda">, id: number, count: number): RegisteredCollective[] {
  return world.ranks.map((rank) => rank.register({ id, collective: "all-reduce", dataType: "float32", count }));
}

async function filled(rank: Rank<"cuda">, length: number, value: number): Promise<DeviceBuffer<"float32">> {
  const buffer = rank.allocate("float32", length);
  await buffer.copyFrom(new Float32Array(length).fill(value));
  return buffer;
}

async function codeOf(act: () => unknown): Promise<string> {
  try {
    await act();
    return "nothing was thrown";
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

async function autoTakesTheGpu(): Promise<void> {
  using world = openWorld({ ranks: 1, backend: "auto" });
  assert.equal(world.backend, "cuda");
  assert.ok(world.ranks[0]?.allocate("float32", 4) instanceof DeviceBuffer);
}

async function addsUp(): Promise<void> {
  using world = open();
  const sum = registerEverywhere(world, 1, 1000);
  const expected = world.ranks.reduce((total, { number }) => total + number + 1, 0);
  const x = await Promise.all(world.ranks.map((rank) => filled(rank, 1000, rank.number + 1)));
  const y = world.ranks.map((rank) => rank.allocate("float32", 1000));
  await Promise.all(sum.map((collective, r) => collective.run(x[r], y[r])));
  for (const buffer of y) assert.deepEqual(await buffer.read(), new Float32Array(1000).fill(expected));
  await Promise.all(sum.map((collective, r) => collective.run(x[r], x[r])));
  for (const buffer of x) assert.deepEqual(await buffer.read(), new Float32Array(1000).fill(expected));
}

async function anyOrder(): Promise<void> {
  using world = open();
  const counts = [1, 64, 1000, 16_384, 100_000, 262_144];
  const collectives = counts.map((count, id) => registerEverywhere(world, id, count));
  const x = await Promise.all(world.ranks.map((rank) => Promise.all(counts.map((count) => filled(rank, count, rank.number + 1)))));
  const y = world.ranks.map((rank) => counts.map((count) => rank.allocate("float32", count)));
  const expected = world.ranks.reduce((total, { number }) => total + number + 1, 0);
  for (let iteration = 0; iteration < 50; iteration += 1) {
    await Promise.all(
      world.ranks.map(async (rank, r) => {
        const order = counts.map((_, id) => (id * (r + 1) * 5 + iteration) % counts.length);
        const missing = counts.map((_, id) => id).filter((id) => !order.includes(id));
        const batches: PromiseLike<void>[] = [];
        for (const id of new Set([...order, ...missing])) {
          const collective = collectives[id]?.[r];
          assert.ok(collective);
          batches.push(rank.submit([[collective, x[r]?.[id], y[r]?.[id]]]));
          if (id % 3 === 0) await rank.synchronize();
        }
        await Promise.all(batches);
      }),
    );
  }
  for (const ofRank of y) {
    for (const buffer of ofRank) assert.ok((await buffer.read()).every((value) => value === expected));
  }
  const counters = world.ranks[0]?.counters();
  assert.ok(counters && counters.launches > 0 && counters.blocks.length === 8);
}

async function programsAddUp(): Promise<void> {
  using world = open();
  const ranks = world.ranks.length;
  const rings = protocols.map((protocol) => ({ algorithm: "ring", protocol, channels: 4 }) as const);
  const built = [...rings, { algorithm: "direct-two-shot", channels: 4 } as const].map((options) =>
    buildProgram({ collective: "all-reduce", ranks, inPlace: "either", ...options }),
  );
  const expected = world.ranks.reduce((total, { number }) => total + number + 1, 0);
  const counts = [1, 1000, 300_001];
  await Promise.all(
    built.flatMap((program, kind) =>
      counts.map(async (count, size) => {
        const id = kind * counts.length + size;
        const sums = world.ranks.map((rank) => rank.register({ id, collective: "all-reduce", dataType: "float32", count, program }));
        const x = await Promise.all(world.ranks.map((rank) => filled(rank, count, rank.number + 1)));
        const y = world.ranks.map((rank) => rank.allocate("float32", count));
        await Promise.all(sums.map((sum, r) => sum.run(x[r], y[r])));
        await Promise.all(sums.map((sum, r) => sum.run(x[r], x[r])));
        for (const buffer of [...x, ...y]) assert.ok((await buffer.read()).every((value) => value === expected));
      }),
    ),
  );
}

async function batches(): Promise<void> {
  using world = open();
  const sum = registerEverywhere(world, 1, 256);
  const x = await Promise.all(world.ranks.map((rank) => filled(rank, 256, 0)));
  let calls = 0;
  const many = 3000; // More than there are slots.
  await Promise.all(
    world.ranks.map((rank, r) =>
      rank.submit(
        Array.from({ length: many }, () => [sum[r] as RegisteredCollective, x[r], x[r]] as const),
        {
          onComplete: ({ status }) => {
            assert.equal(status, "completed");
            calls += 1;
          },
        },
      ),
    ),
  );
  assert.equal(calls, many * world.ranks.length);
}

async function wakes(): Promise<void> {
  using world = open();
  const sum = registerEverywhere(world, 1, 256);
  const x = await Promise.all(world.ranks.map((rank) => filled(rank, 256, 1)));
  const first = sum[0]?.run(x[0], x[0]);
  await new Promise((resolve) => setTimeout(resolve, 100)); // Long asleep.
  const rest = sum.slice(1).map((collective, i) => collective.run(x[i + 1], x[i + 1]));
  await Promise.all([first, ...rest]);
}

async function refuses(): Promise<void> {
  using world = open();
  const [sum] = registerEverywhere(world, 1, 100);
  const [rank, other] = world.ranks;
  assert.ok(sum && rank && other);
  const good = rank.allocate("float32", 100);
  assert.equal(await codeOf(() => sum.run(new Float32Array(100), good)), "BUFFER");
  assert.equal(await codeOf(() => sum.run(good, other.allocate("float32", 100))), "BUFFER");
  assert.equal(await codeOf(() => sum.run(good, rank.allocate("int32", 100) as unknown as DeviceBuffer)), "BUFFER");
  assert.equal(await codeOf(() => sum.run(good, rank.allocate("float32", 99))), "BUFFER");
  assert.equal(await codeOf(() => sum.run(good.subarray(0, 50), good)), "BUFFER");
  assert.equal(await codeOf(() => good.copyFrom(new Float32Array(101))), "INVALID_ARGUMENT");
  assert.equal(await codeOf(() => openWorld({ ranks: 2, backend: "cuda", devices: [0, 99] })), "INVALID_ARGUMENT");
  assert.equal(await codeOf(() => openWorld({ ranks: 2, backend: "cuda", policy: "in-order" })), "INVALID_ARGUMENT");
  assert.equal(await codeOf(() => openWorld({ ranks: 2, backend: "cuda", arenaBytes: 2 ** 50 })), "OUT_OF_MEMORY");
}

async function timesOut(): Promise<void> {
  using world = open();
  const sums = registerEverywhere(world, 9, 100);
  const x = await Promise.all(world.ranks.map((rank) => filled(rank, 100, 1)));
  const error = await sums[0]?.run(x[0], x[0], { timeoutMs: 100 }).catch((thrown: unknown) => thrown);
  assert.match(String(error), /rank.* 1.* never submitted it/);
  await Promise.all(sums.slice(1).map((sum, i) => sum.run(x[i + 1], x[i + 1])));
  // The others' runs may be over before rank 0's, which goes on after its timeout.
  while (world.ranks.some(({ pendingRuns }) => pendingRuns > 0)) await new Promise((resolve) => setTimeout(resolve, 1));
  for (const buffer of x) assert.deepEqual(await buffer.read(), new Float32Array(100).fill(world.ranks.length));
}

async function aborts(): Promise<void> {
  using world = open();
  const x = await Promise.all(world.ranks.map((rank) => filled(rank, 100_000, 1)));
  for (let round = 0; round < 20; round += 1) {
    const sums = registerEverywhere(world, 3, 100_000);
    const [first] = sums;
    assert.ok(first);
    const stuck = first.run(x[0], x[0]);
    if (round % 2 === 0) await new Promise((resolve) => setTimeout(resolve, round));
    const began = performance.now();
    first.abort();
    assert.equal(await codeOf(() => stuck), "ABORTED");
    if (round < 2) process.stdout.write(`    aborted in ${(performance.now() - began).toFixed(2)} ms\n`);
    await first.quarantine();
    for (const sum of sums) sum.unregister();
  }
}

async function gives(): Promise<void> {
  using world = open();
  const sums = registerEverywhere(world, 1, 1000);
  const [first] = sums;
  const x = await Promise.all(world.ranks.map((rank) => filled(rank, 1000, 1)));
  const stuck = first?.run(x[0]?.subarray(0), x[0]?.subarray(0));
  assert.equal(await codeOf(() => x[0]?.free()), "IN_USE");
  first?.abort();
  assert.equal(await codeOf(() => stuck), "ABORTED");
  await first?.quarantine();
  await new Promise((resolve) => setTimeout(resolve, 20));
  x[0]?.free();
  x[0]?.free();
  assert.equal(await codeOf(() => x[0]?.read()), "CLOSED");
  for (let i = 0; i < 1000; i += 1) world.ranks[0]?.allocate("float32", 1 << 20).free(); // 4 GB, a piece at a time
}

async function closes(): Promise<void> {
  for (let i = 0; i < 3; i += 1) {
    const world = open();
    const [first] = registerEverywhere(world, 1, 1000);
    const [rank] = world.ranks;
    assert.ok(first && rank);
    const x = rank.allocate("float32", 1000);
    const stuck = first.run(x, x);
    await new Promise((resolve) => setTimeout(resolve, i));
    world.close();
    assert.equal(await codeOf(() => stuck), "CLOSED");
    assert.equal(await codeOf(() => x.read()), "CLOSED");
  }
}

let failures = 0;
for (const [name, holds] of checks) {
  const began = performance.now();
  try {
    await holds();
    process.stdout.write(`ok    ${name} (${(performance.now() - began).toFixed(0)} ms)\n`);
  } catch (error) {
    failures += 1;
    process.stdout.write(`WRONG ${name}: ${error instanceof Error ? error.stack : String(error)}\n`);
  }
}
process.exitCode = failures === 0 ? 0 : 1;
