import { openWorld } from "@dfccl/core";
import { InvalidArgumentError } from "@dfccl/primitives";
import { afterAll, describe, expect, it } from "vitest";
import { compileGraph, coreCollectives, coreCommunicator, layout, parseSbp, placement, runActors } from "../src/index.js";

const world = openWorld({ ranks: 1, workers: 0 });
afterAll(() => world.close());
const [rank] = world.ranks;
const compile = { steps: 1, collectives: coreCollectives(world), feeds: {}, initial: {} };
const task = { id: 1n, name: "t", consumes: [], produces: [], kernel: () => {}, records: 1 };
const nothings: readonly unknown[] = [null, undefined, 5, "x", () => {}];
const each = (call: (value: never) => unknown, values = nothings): (() => unknown)[] => values.map((value) => () => call(value as never));

// Callers in JavaScript have no compiler; a TypeError from within tells them nothing.
describe("what can't be an argument is refused by name", () => {
  it.each<readonly [string, readonly (() => unknown)[]]>([
    ["compileGraph's graph", each((graph) => compileGraph(graph, compile))],
    ["an operation", each((op) => compileGraph([op], compile))],
    [
      "an operation's name, kind and inputs",
      each((op) => compileGraph([op], compile), [{}, { name: "a" }, { name: "a", op: "relu", inputs: 5 }]),
    ],
    ["compileGraph's options", each((options) => compileGraph([], options))],
    ["collectives", each((collectives) => compileGraph([], { ...compile, collectives }))],
    ["feeds and initial values", each((data) => compileGraph([], { ...compile, feeds: data, initial: data }), [null, undefined, 5, "x"])],
    ["steps", each((steps) => compileGraph([], { ...compile, steps }), [null, undefined, "x", -1, 0.5])],
    ["a plan", each((plan) => runActors(plan))],
    ["a plan's tasks", each((tasks) => runActors({ tasks, registers: [] }))],
    ["a task", each((one) => runActors({ tasks: [one], registers: [] }))],
    ["a task's kernel", each((kernel) => runActors({ tasks: [{ ...task, kernel }], registers: [] }), [null, 5, "x"])],
    ["a register", each((one) => runActors({ tasks: [task], registers: [one] }))],
    [
      "runActors' options",
      each(
        (options) => runActors({ tasks: [], registers: [] }, options),
        [null, 5, "x", { bus: 5 }, { bus: {} }, { clock: {} }, { onAct: 5 }],
      ),
    ],
    ["a placement's ranks", each((ranks) => placement(ranks))],
    ["a placement's hierarchy", each((hierarchy) => placement([0], hierarchy), [null, 5, "x"])],
    ["a layout's shape", each((shape) => layout(shape, parseSbp("B"), placement([0])))],
    ["a layout's signature", [...each((sbp) => layout([4], sbp, placement([0]))), ...each((sbp) => layout([4], [sbp], placement([0])))]],
    ["a layout's placement", each((place) => layout([4], parseSbp("B"), place))],
    ["a signature's text", each((text) => parseSbp(text))],
    ["a communicator's rank", each((one) => coreCommunicator(one))],
    ["a communicator's options", each((options) => coreCommunicator(rank as never, options), [null, 5, "x", { ranks: 5 }, { op: "max" }])],
    ["a batch's options", each((options) => rank?.submit([], options), [null, 5, "x", { onComplete: 5 }])],
    ["a batch's runs", [...each((requests) => rank?.submit(requests)), ...each((request) => rank?.submit([request]))]],
  ])("%s", (_what, calls) => {
    for (const call of calls) expect(call).toThrow(InvalidArgumentError);
  });
});
