import { openWorld } from "@dfccl/core";
import { afterAll } from "vitest";
import { testHostileMethods } from "../../../scripts/lib/hostile-methods.js";
import * as actor from "../src/index.js";
import { coreCollectives, coreCommunicator, inProcessTransports, openReducer, scheduleNames } from "../src/index.js";

const world = openWorld({ ranks: 1, workers: 0, maxCollectives: 1024 });
afterAll(() => world.close());
const [rank] = world.ranks;

let ids = 0;
/** An id that no other collective of the world has. */
function fresh(): number {
  ids += 1;
  return ids;
}

const ignore = (): void => {};
const four = (): Float32Array => new Float32Array(4);
const communicator = (): actor.Communicator => coreCommunicator(rank as never);
const reduction = communicator().register({ id: 0, elements: 4, priority: 0 });
const request = () => ({ reduction, data: four() });

testHostileMethods("Communicator", communicator, {
  register: () => [{ id: fresh(), elements: 4, priority: 1 }],
  submit: () => [[request()], ignore],
  allocate: () => [4],
});

const one = { submit: (given: never) => communicator().submit([given], ignore) };
testHostileMethods("Communicator.of-one-request", () => one, { submit: () => [request()] });

testHostileMethods("RegisteredReduction", () => communicator().register({ id: fresh(), elements: 4, priority: 0 }), { close: () => [] });

testHostileMethods(
  "Transport",
  () => inProcessTransports(2)[0] as actor.Transport,
  { send: () => [1, "message"], listen: () => [ignore], close: () => [] },
  (transport) => transport.close(),
);

testHostileMethods("Bus", actor.microtaskBus, { send: () => [{ kind: "command", to: 1n, command: "start" }, ignore] });
testHostileMethods("Clock", () => actor.systemClock, { now: () => [], after: () => [1, ignore] });
testHostileMethods("VirtualClock", () => new actor.VirtualClock(), { now: () => [], after: () => [1, ignore], run: () => [] });
testHostileMethods("ActorRun", () => actor.runActors({ tasks: [], registers: [] }), { stop: () => [] });

const library = coreCollectives(world);
const spec = () => ({ id: fresh(), collective: "all-reduce" as const, ranks: [0], count: 4, priority: 0 });
testHostileMethods("CollectiveLibrary", () => library, { open: () => [0, spec()] });
testHostileMethods("CollectiveRun", () => ({ run: library.open(0, spec()) }), { run: () => [four(), four(), ignore] });

const graph = [
  {
    ...{ name: "w", op: "variable", inputs: [], attributes: {}, shape: [4], stage: 0, pass: "forward" },
    ...{ placement: actor.placement([0], [1]), sbp: actor.parseSbp("B") },
  },
];
const options = { steps: 1, collectives: library, feeds: {}, initial: { w: four() } };
testHostileMethods("CompiledGraph", () => actor.compileGraph(graph as never, options as never), { readVariable: () => ["w"] });

/** Ends every run at once, as one rank alone would. */
const pretending: actor.Communicator = {
  ...{ rank: 0, size: 1, allocate: (elements) => new Float32Array(elements) },
  register: ({ id, elements }) => ({ id, elements, close: ignore }),
  submit: (requests, onEnd) => queueMicrotask(() => requests.forEach((_, position) => void onEnd(position, undefined))),
};

for (const options of [...scheduleNames.map((schedule) => ({ schedule })), { negotiation: "star" }, { negotiation: "chain" }] as const) {
  const id = fresh();
  const open = (): actor.GradientReducer => {
    const [transport] = inProcessTransports(1);
    return openReducer({ communicator: pretending, tensors: [{ id, elements: 4 }], transport: transport as actor.Transport, ...options });
  };
  testHostileMethods(`GradientReducer.${Object.values(options)}`, open, {
    ready: () => [id, four(), ignore],
    reduce: () => [id, four()],
    endStep: () => [],
    statistics: () => [],
    close: () => [],
  });
}
