import { testHostileValues } from "../../../scripts/lib/hostile-values.js";
import { joinWorld, openWorld, type Rank, type RegisteredCollective, type World } from "../src/index.js";
import { rankOf, turns } from "./support/open.js";

/** Small, so that thousands of them open and close in no time. */
const small = { ranks: 1, workers: 0, blocks: 1, submissionSlots: 16, completionSlots: 16, maxCollectives: 16, maxTasks: 32 } as const;

/** What isn't answered by then is accepted: it waits for a rank that never comes. */
const patience = 20;

let joined = 0;

/** Each method of an object as a function that makes a world and the object of its own, and calls it. */
function methodsOf(make: (world: World) => object): Record<string, (...args: readonly unknown[]) => Promise<unknown>> {
  using world = openWorld(small);
  const properties = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(make(world))));
  const names = properties.filter(([name, { value }]) => typeof value === "function" && !["constructor", "then"].includes(name));
  const call = async (name: string, args: readonly unknown[]): Promise<unknown> => {
    using own = openWorld(small);
    const object = make(own) as Record<string, (...args: readonly unknown[]) => unknown>;
    return await Promise.race([object[name]?.(...args), turns(patience)]);
  };
  return Object.fromEntries(names.map(([name]) => [name, (...args) => call(name, args)]));
}

const rank = (world: World): Rank => rankOf(world, 0);
const sum = (world: World): RegisteredCollective =>
  rank(world).register({ id: 7, collective: "all-reduce", dataType: "float32", count: 4 });
const four = (): Float32Array => new Float32Array(4);

const plain = () => ({ tag: 7, dataType: "float32", count: 4, timeoutMs: 1000 });
const uneven = () => ({ tag: 7n, dataType: "float32", timeoutMs: 1000 });
/** Of ranks and groups alike. */
const collectives = {
  allReduce: () => [four(), { ...plain(), op: "max", into: four() }],
  reduce: () => [four(), { ...plain(), op: "sum", root: 0, into: four() }],
  broadcast: () => [four(), { ...plain(), root: 0, into: four() }],
  allGather: () => [four(), four(), plain()],
  reduceScatter: () => [four(), four(), { ...plain(), op: "sum" }],
  allToAll: () => [four(), four(), plain()],
  gather: () => [four(), four(), { ...plain(), root: 0 }],
  scatter: () => [four(), four(), { ...plain(), root: 0 }],
  barrier: () => [{ tag: 7, timeoutMs: 1000 }],
  send: () => [four(), 0, plain()],
  recv: () => [four(), 0, plain()],
  recvAny: () => [four(), plain()],
  allToAllV: () => [four(), [4], four(), [4], { ...uneven(), sendDisplacements: [0], recvDisplacements: [0] }],
  allGatherV: () => [four(), four(), [4], { ...uneven(), displacements: [0] }],
  reduceScatterV: () => [four(), four(), [4], { ...uneven(), op: "sum" }],
  gatherV: () => [four(), four(), [4], { ...uneven(), displacements: [0], root: 0 }],
  scatterV: () => [four(), four(), [4], { ...uneven(), displacements: [0], root: 0 }],
};

testHostileValues(
  methodsOf((world) => world),
  { deadlock: () => [], arenaBytesInUse: () => [], close: () => [] },
  { throwing: true },
);

testHostileValues(
  methodsOf(rank),
  {
    ...collectives,
    register: () => [
      {
        id: 7,
        collective: "reduce",
        dataType: "float32",
        count: 4,
        op: "scaled-sum",
        ranks: [0],
        root: 0,
        priority: 1,
        scale: 0.5,
        buffers: "any",
        program: undefined,
      },
    ],
    group: () => [[0], { name: 7 }],
    allocate: () => ["float32", 4],
    submit: () => [[], { onComplete: () => {} }],
    batch: () => [() => {}, { timeoutMs: 1000 }],
    synchronize: () => [],
    synchronizeBlocking: () => [1],
    counters: () => [],
  },
  { throwing: true },
);

testHostileValues(
  methodsOf((world) => rank(world).group([0])),
  { ...collectives, split: () => [0, 0, { timeoutMs: 1000 }], drop: () => [], abort: () => [] },
  { throwing: true },
);

testHostileValues(
  methodsOf(sum),
  {
    run: () => [four(), four(), { timeoutMs: 1000, signal: new AbortController().signal }],
    explain: () => [],
    abort: () => [],
    quarantine: () => [],
    memoryBytes: () => [],
    unregister: () => [],
  },
  { throwing: true },
);

testHostileValues(
  {
    async oneRun(collective: unknown, send: unknown, recv: unknown): Promise<unknown> {
      using world = openWorld(small);
      const own = sum(world);
      return await rank(world).submit([[collective === "own" ? own : collective, send, recv] as never]);
    },
    async oneRequest(request: unknown): Promise<unknown> {
      using world = openWorld(small);
      return await rank(world).submit(request === "none" ? [] : [request as never]);
    },
  },
  { oneRun: () => ["own", four(), four()], oneRequest: () => ["none"] },
  { throwing: true },
);

testHostileValues(
  {
    async agreeOnSurvivors(...args: readonly unknown[]): Promise<unknown> {
      joined += 1;
      const launch = { rank: 0, size: 1, job: `hostile-${process.pid}-${joined}` };
      using own = await joinWorld({ launch, workers: 0, blocks: 1, maxCollectives: 16, maxTasks: 32 });
      return await own.agreeOnSurvivors(...(args as []));
    },
  },
  { agreeOnSurvivors: () => [{ timeoutMs: 1000 }] },
  { throwing: true },
);
