import { describe, expect, it } from "vitest";
import { parseDeadlockConfig, SimulationConfigError } from "../../src/deadlock/config.js";

const grouping = { policy: "3d", tp: 2, dp: 2, pp: 2, collectivesPerTpGroup: 4, collectivesPerDpGroup: 4 };
const valid = { model: "synchronization", grouping, disorderProbability: 0.1, synchronizationProbability: 0.1 };
const freeOf = (groups: unknown, gpus: unknown = 3): unknown => ({ ...valid, grouping: { policy: "free", gpus, groups } });

describe("parseDeadlockConfig", () => {
  it("takes what is valid, and fills in what may be left out", () => {
    expect(parseDeadlockConfig(valid)).toMatchObject({ ...valid, listOrder: "round-robin" });
    expect(parseDeadlockConfig({ model: "single-queue", grouping, disorderProbability: 0 }).synchronizationProbability).toBe(0);
  });

  it.each([
    ["an unknown key", { ...valid, speed: 3 }, /speed is 3: no such key/],
    ["an unknown key inside", { ...valid, grouping: { ...grouping, ep: 2 } }, /grouping\.ep is 2: no such key/],
    ["a probability above 1", { ...valid, disorderProbability: 1.5 }, /disorderProbability is 1\.5: must be <=1/],
    ["a negative probability", { ...valid, synchronizationProbability: -0.1 }, /synchronizationProbability is -0\.1: must be >=0/],
    ["nothing but synchronizations", { ...valid, synchronizationProbability: 1 }, /at most 0\.999/],
    [
      "sizes that don't multiply to the GPUs",
      { ...valid, grouping: { ...grouping, gpus: 9 } },
      /grouping\.gpus is 9: must be tp · dp · pp = 2 · 2 · 2 = 8/,
    ],
    ["a GPU listed twice", freeOf([{ gpus: [0, 1, 2, 1], collectives: 3 }]), /grouping\.groups\[0\]\.gpus\[3\] is 1: must be listed once/],
    [
      "a GPU that isn't there",
      freeOf([{ gpus: [0, 1, 2, 3], collectives: 3 }]),
      /grouping\.groups\[0\]\.gpus\[3\] is 3: must be a GPU from 0 to 2/,
    ],
    ["a GPU in no group", freeOf([{ gpus: [0, 1], collectives: 3 }]), /must use all 3 GPUs; they use 2/],
    ["zero collectives", freeOf([{ gpus: [0, 1, 2], collectives: 0 }]), /grouping\.groups\[0\]\.collectives is 0: must be >=1/],
    ["no groups", freeOf([]), /grouping\.groups is \[\]/],
    ["an absurd number of GPUs", { ...valid, grouping: { ...grouping, pp: 1e9 } }, /grouping\.pp is 1000000000: must be <=200000/],
    ["an absurd product", { ...valid, grouping: { ...grouping, tp: 1000, dp: 1000 } }, /tp · dp · pp = 2000000 GPUs; at most 200000/],
    ["half a GPU", { ...valid, grouping: { ...grouping, tp: 2.5 } }, /grouping\.tp is 2\.5/],
    ["an unknown model", { ...valid, model: "sync" }, /model is "sync"/],
    ["synchronizations in a single queue", { ...valid, model: "single-queue" }, /must be 0 or absent in the single-queue model/],
    ["a missing key", { ...valid, disorderProbability: undefined }, /disorderProbability is missing: expected number\. docs/],
    ["a list", [], /the configuration is \[\]/],
    ["nothing", null, /the configuration is null/],
  ])("names key, value and what is allowed: %s", (_, config, message) => {
    expect(() => parseDeadlockConfig(config, "mine.json")).toThrow(SimulationConfigError);
    expect(() => parseDeadlockConfig(config, "mine.json")).toThrow(message);
    expect(() => parseDeadlockConfig(config, "mine.json")).toThrow(/^Configuration mine\.json: /);
  });

  it("names all that is wrong at once, as facts too", () => {
    try {
      parseDeadlockConfig({ ...valid, model: "x", disorderProbability: 2 });
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({
        code: "SIMULATION_CONFIG",
        facts: {
          problems: [
            { key: "model", value: "x" },
            { key: "disorderProbability", value: 2 },
          ],
        },
      });
    }
  });
});
