import { openWorld } from "@dfccl/core";
import { afterAll } from "vitest";
import { testHostileValues } from "../../../scripts/lib/hostile-values.js";
import * as actor from "../src/index.js";
import { chooseBoxing, coreCollectives, coreCommunicator, inProcessTransports, parseSbp, placement } from "../src/index.js";

const world = openWorld({ ranks: 1, workers: 0 });
afterAll(() => world.close());
const [rank] = world.ranks;

const place = () => placement([0, 1]);
const of = (sbp: string) => ({ shape: [4, 4], sbp: parseSbp(sbp), placement: place() });
const range = () => ({ from: 0, to: 4 });
const task = () => ({
  ...{ id: 1n, name: "t", consumes: [], produces: [], records: 1, isAsynchronous: false },
  kernel: (_act: unknown, done: () => void) => done(),
  rhythm: { actsPerInput: 1, actsPerOutput: 1 },
});
const plan = () => ({ tasks: [task()], registers: [] });
const op = () => ({
  ...{ name: "x", op: "input", inputs: [], attributes: {}, shape: [4], stage: 0, pass: "forward" },
  ...{ placement: placement([0]), sbp: parseSbp("B") },
});
const resolved = () => actor.resolveGraph([op() as never])[0];
const communicator = () => coreCommunicator(rank as never);
const runs = (options: object) => actor.runActors(plan() as never, options as never).finished;

testHostileValues(
  { ...actor, runActors: (...args: [never, never]) => actor.runActors(...args).finished, runs },
  {
    runs: () => [{ onAct: () => {}, allocate: (n: number) => new Float32Array(n), isOrderKept: true }],
    runActors: () => [plan(), {}],
    "runActors with a register": () => [
      {
        tasks: [{ ...task(), produces: [1] }],
        registers: [{ id: 1, producer: 1n, consumers: [], count: 1, elements: 1 }],
      },
      {},
    ],
    earliestTask: () => [[]],
    microtaskBus: () => [],
    decodeTaskId: () => [1n],
    encodeTaskId: () => [{ rank: 0, deviceType: 0, deviceIndex: 0, stream: 0, task: 1 }],
    rankOf: () => [1n],
    threadOf: () => [1n],
    VirtualClock: () => [],
    chooseBoxing: () => [of("S0"), of("B"), 4],
    describeBoxing: () => [{ ...chooseBoxing(of("S0"), of("B")) }],
    interpretBoxing: () => [
      { ...chooseBoxing(of("S0"), of("B")) },
      new Map([
        [0, new Float32Array(8)],
        [1, new Float32Array(8)],
      ]),
    ],
    coreCollectives: () => [world],
    compileGraph: () => [
      [op()],
      {
        ...{ steps: 1, collectives: coreCollectives(world), feeds: { x: () => new Float32Array(4) }, initial: {} },
        ...{ onOutput: () => {}, counts: actor.pipelineCounts, firstCollectiveId: 100 },
      },
    ],
    "resolveGraph of nothing": () => [[]],
    resolveGraph: () => [[op()]],
    pipelineCounts: () => [resolved(), resolved(), 2],
    gpipeCounts: () => [2],
    leastCounts: () => [2],
    oneFlowCounts: () => [2],
    simulatePipeline: () => [{ stages: 2, microBatches: 2, counts: actor.oneFlowCounts(2), forwardMs: 1, backwardMs: 2 }],
    "simulatePipeline with counts": () => [{ stages: 2, microBatches: 2, counts: actor.oneFlowCounts(2) }],
    shapeOf: () => [[range()]],
    volumeOf: () => [[range()]],
    boxingCost: () => [actor.split(0), actor.broadcast, { bytes: 64, from: 2, to: 2, isSamePlacement: true }],
    boxOf: () => [of("S0"), 0, 0],
    layout: () => [[4, 4], parseSbp("S0"), place()],
    placement: () => [[0, 1], [2]],
    formatSbp: () => [parseSbp("S0")],
    parseSbp: () => ["S0"],
    split: () => [0],
    coreCommunicator: () => [rank, { ranks: [0], op: "sum" }],
    mergeGroups: () => [[{ bytes: 4 }], { maxGroupBytes: 1024, maxGroupSize: 4 }, () => ""],
    openReducer: () => [
      {
        communicator: communicator(),
        tensors: [{ id: 1, elements: 4 }],
        ...{ schedule: "coordinator", transport: inProcessTransports(1)[0], negotiation: "none", static: {}, coordinator: {} },
        clock: actor.systemClock,
      },
    ],
    staticPlan: () => [[{ id: 1, inputs: [], collective: { bytes: 4, kind: "k" } }], { maxGroupBytes: 1024, maxGroupSize: 4 }],
    inProcessTransports: () => [2, { defer: queueMicrotask }],
  },
  { throwing: true },
);
