// Every exported function, called with anything; and worlds, whose methods are called in any order with arguments that are nearly right.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as actor from "../../../packages/actor/dist/index.js";
import * as tests from "../../../packages/collective-tests/dist/index.js";
import * as compiler from "../../../packages/compiler/dist/index.js";
import * as core from "../../../packages/core/dist/index.js";
import * as primitives from "../../../packages/primitives/dist/index.js";
import * as queues from "../../../packages/queues/dist/index.js";
import * as scheduler from "../../../packages/scheduler/dist/index.js";
import * as simulator from "../../../packages/simulator/dist/index.js";
import { faultOf } from "../judge.mjs";

/** What works as long as it is told to, waits for other processes, or is for packages, which write its arguments themselves. */
const left = /^(simulate|joinWorld|calibrate|runTest|openBackend|turnsOf|readArgument|lookUp|check[A-Z])/;
/** Queues' roles and rings take what other functions of theirs made. */
const made = /^(OwnedSlots|TrainerRing|WorkerBuffer)$/;
const functions = [actor, tests, compiler, core, primitives, queues, scheduler, simulator].flatMap((module) =>
  Object.entries(module).filter(
    ([name, value]) => typeof value === "function" && !(value.prototype instanceof Error) && !left.test(name) && !made.test(name),
  ),
);

// Any text is a path, and some functions write there.
const folder = mkdtempSync(join(tmpdir(), "dfccl-fuzz-javascript-"));
process.chdir(folder);
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

export async function tryCase(random) {
  return random.chance(0.5) ? anyFunction(random) : inAWorld(random);
}

async function anyFunction(random) {
  const [called, value] = random.pick(functions);
  const args = random.list(4, () => random.value());
  const isClass = Function.prototype.toString.call(value).startsWith("class");
  return faultIn(called, args, async () => {
    const result = await within(isClass ? Reflect.construct(value, args) : Reflect.apply(value, undefined, args));
    result?.[Symbol.dispose]?.();
  });
}

const four = () => new Float32Array(4);
const own = { tag: 1, dataType: "float32", count: 4, timeoutMs: 50 };
const registration = { id: 7, collective: "all-reduce", dataType: "float32", count: 4, op: "sum" };
const calls = {
  register: () => [registration],
  allocate: () => ["float32", 4],
  group: () => [[0, 1], { name: 1 }],
  allReduce: () => [four(), own],
  broadcast: () => [four(), { ...own, root: 0 }],
  allGather: () => [four(), new Float32Array(8), own],
  send: () => [four(), 1, own],
  recv: () => [four(), 0, own],
  recvAny: () => [four(), own],
  barrier: () => [{ tag: 1, timeoutMs: 50 }],
  submit: () => [[], {}],
  synchronize: () => [],
  counters: () => [],
};
const registered = {
  run: () => [four(), four(), { timeoutMs: 50 }],
  explain: () => [],
  abort: () => [],
  memoryBytes: () => [],
  unregister: () => [],
};

async function inAWorld(random) {
  const options = {
    ranks: 2,
    workers: random.below(2),
    blocks: 1,
    submissionSlots: 16,
    completionSlots: 16,
    maxCollectives: 8,
    maxTasks: 16,
  };
  const world = core.openWorld(options);
  try {
    return await aStory(random, world);
  } finally {
    world.close();
  }
}

async function aStory(random, world) {
  const things = world.ranks.map((rank) => [rank, calls]);
  const story = [];
  for (let steps = 1 + random.below(12); steps > 0; steps -= 1) {
    const [thing, table] = random.pick(things);
    const method = random.pick(Object.keys(table));
    const right = table[method]();
    const args = right.length > 0 && random.chance(0.5) ? random.mutated(right) : right;
    if (random.chance(0.02)) world.close();
    story.push(method);
    const fault = await faultIn(story.join(", "), args, async () => {
      const result = await within(thing[method](...(Array.isArray(args) ? args : [args])));
      if (method === "register") things.push([result, registered]);
    });
    if (fault) return fault;
  }
}

/** What isn't answered soon waits for what never comes. */
async function within(result) {
  if (typeof result?.then !== "function") return result;
  let settled = false;
  const end = () => {
    settled = true;
  };
  result.then(end, end);
  for (let turn = 0; turn < 20 && !settled; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return settled ? await result : undefined;
}

async function faultIn(what, args, attempt) {
  try {
    await attempt();
  } catch (error) {
    const fault = faultOf(error);
    return fault && `${what}(${args.map?.((arg) => primitives.formatValue(arg)).join(", ")})\n${fault}`;
  }
}
