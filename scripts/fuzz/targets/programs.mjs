// Programs as trees and as bytes: what isn't refused must run, on the reference and on the engine, to an end or to a timeout.
import { openWorld } from "../../../packages/core/dist/index.js";
import * as primitives from "../../../packages/primitives/dist/index.js";
import { faultOf } from "../judge.mjs";

const { buildProgram, decodeProgram, encodeProgram, interpretProgram, verifyProgram } = primitives;
const programs = [
  ["all-reduce", "ring"],
  ["all-reduce", "direct-one-shot"],
  ["all-gather", "ring"],
  ["reduce-scatter", "ring"],
  ["broadcast", "binomial-tree"],
].map(([collective, algorithm]) => buildProgram({ collective, algorithm, ranks: 2, protocol: "simple" }));

export async function tryCase(random) {
  const whole = random.pick(programs);
  return random.chance(0.5) ? ofBytes(random, whole) : ofTree(random, whole);
}

function ofBytes(random, whole) {
  const bytes = random.mutatedBytes(encodeProgram(whole, random.below(2)));
  return faultIn(`the bytes ${Buffer.from(bytes).toString("base64")}`, () => decodeProgram(bytes));
}

async function ofTree(random, whole) {
  const program = random.mutated(structuredClone(whole), () => random.json());
  const about = () => `the program ${JSON.stringify(program)}`;
  const inputs = [Array(8).fill(1), Array(8).fill(2)];
  const fault =
    (await faultIn(about, () => verifyProgram(program))) ??
    (await faultIn(about, () => encodeProgram(program, 0))) ??
    (await faultIn(about, () => interpretProgram(program, { inputs, count: 4, op: "sum" })));
  return fault ?? faultIn(about, () => onEngine(program));
}

/** Two ranks run it at once. */
async function onEngine(program) {
  const world = openWorld({ ranks: 2, workers: 0, maxCollectives: 16, maxTasks: 64 });
  try {
    const { collective = "custom", root = 0 } = program ?? {};
    const runs = world.ranks.map((rank) => {
      const registered = rank.register({ id: 1, collective, dataType: "float32", count: 4, op: "sum", root, program });
      return registered.run(new Float32Array(64), new Float32Array(64), { timeoutMs: 2_000 });
    });
    for (const { reason } of await Promise.allSettled(runs)) if (reason !== undefined) throw reason;
  } finally {
    world.close();
  }
}

async function faultIn(about, attempt) {
  try {
    await attempt();
  } catch (error) {
    const fault = faultOf(error);
    return fault && `${typeof about === "function" ? about() : about}\n${fault}`;
  }
}
