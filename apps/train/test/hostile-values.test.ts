import { train as optimizers } from "@tensorflow/tfjs-core";
import { describe, expect, it } from "vitest";
import { testHostileMethods } from "../../../scripts/lib/hostile-methods.js";
import { testHostileValues } from "../../../scripts/lib/hostile-values.js";
import * as exported from "../src/index.js";
import { Communicator } from "../src/rank/communicator.js";
import { maxChannels } from "../src/wire.js";

await exported.useTensorFlow("cpu");

/** A rank whose runs have all completed already. */
function communicator(): Communicator {
  const completed = new Int32Array(new SharedArrayBuffer(4 * maxChannels)).fill(1_000_000);
  return new Communicator({ rank: 0, ranks: 2, completed }, () => {});
}

const program = new URL("./fixtures/ends.ts", import.meta.url);
const begins = {
  planTraining: () => [{ model: "mnist", ranks: 2, parallel: "dp=2", steps: 1, seed: 1, globalBatch: 8, schedule: "static", loaders: 0 }],
  useTensorFlow: () => ["cpu"],
  distributed: () => [optimizers.sgd(0.1), communicator(), { ranks: [0], name: "x", broadcast: false }],
};

testHostileValues(exported, begins, {
  throwing: true,
  except: {
    prepareDigits: "any text is a path, so each attempt would leave a file",
    ...Object.fromEntries(["runRanks", "train", "trainSynthetic", "measureHandOffs"].map((name) => [name, "starts threads: see below"])),
  },
});

const nonsense: readonly unknown[] = [null, 5, "x", 1n, Symbol("s"), [], {}, () => {}, { ranks: Number.NaN }, { count: -1, loaders: "x" }];

describe("what would start threads refuses", () => {
  const never = [exported.runRanks, exported.train, exported.trainSynthetic, exported.measureHandOffs] as readonly ((
    given: never,
  ) => unknown)[];
  it.each(never.map((call) => [call.name, call] as const))("nonsense: %s", async (_name, call) => {
    for (const given of [undefined, ...nonsense]) {
      const error = await Promise.resolve(given)
        .then(() => call(given as never))
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: expect.any(String), facts: expect.any(Object), remedy: expect.any(String) });
    }
  });

  it.each([["a name"], ["file:///nowhere/at-all.js"], [null], [7]])("a program that is none: %s", async (wrong) => {
    await expect(exported.runRanks({ ranks: 1, program: wrong as string })).rejects.toMatchObject({ remedy: expect.any(String) });
  });

  it.each([
    ["args", () => {}],
    ["schedule", "alphabetical"],
    ["onReport", "loudly"],
    ["signal", {}],
    ["policy", 7],
  ])("an option that is none: %s", async (name, wrong) => {
    await expect(exported.runRanks({ ranks: 1, program, [name]: wrong })).rejects.toMatchObject({ remedy: expect.any(String) });
  });
});

it("digits go to a path only", () => {
  for (const wrong of nonsense.filter((value) => typeof value !== "string"))
    expect(() => exported.prepareDigits(wrong as string)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
});

testHostileMethods("Communicator", communicator, {
  channel: () => [{ name: "x", collective: "all-reduce", count: 4, op: "sum", root: 0, priority: 1, ranks: [0, 1] }],
  gradients: () => [{ name: "x", gradients: [{ name: "w", elements: 4, priority: 1 }], ranks: [0, 1] }],
  synchronize: () => [],
  report: () => ["value"],
});
testHostileMethods("Channel", () => communicator().channel({ name: "x", collective: "all-reduce", count: 4 }), {
  start: () => [],
  wait: () => [],
  run: () => [],
});
