import { describe, it } from "vitest";
import { openWorld, type WorldOptions } from "../../src/index.js";
import { expectFault, thrownBy, untyped } from "../support/faults.js";

describe("opening a world", () => {
  const faults: readonly (readonly [name: string, options: WorldOptions, code: string])[] = [
    ["no ranks", { ranks: 0 }, "INVALID_ARGUMENT"],
    ["half a rank", { ranks: 1.5 }, "INVALID_ARGUMENT"],
    ["too many ranks", { ranks: 1025 }, "INVALID_ARGUMENT"],
    ["an unknown backend", { ranks: 1, backend: untyped("quantum") }, "INVALID_ARGUMENT"],
    ["an unknown policy", { ranks: 1, policy: untyped("hope") }, "INVALID_ARGUMENT"],
    ["streams without in-order", { ranks: 1, streams: 2 }, "INVALID_ARGUMENT"],
    ["no blocks", { ranks: 1, blocks: 0 }, "INVALID_ARGUMENT"],
    ["too many threads", { ranks: 1, workers: 1000 }, "INVALID_ARGUMENT"],
    ["negative threads", { ranks: 1, workers: -1 }, "INVALID_ARGUMENT"],
    ["submission slots that are no power of two", { ranks: 1, submissionSlots: 100 }, "INVALID_ARGUMENT"],
    ["too many submission slots", { ranks: 1, submissionSlots: 65_536 }, "INVALID_ARGUMENT"],
    ["too few completion slots", { ranks: 1, completionSlots: 4 }, "INVALID_ARGUMENT"],
    ["no collectives", { ranks: 1, maxCollectives: 0 }, "INVALID_ARGUMENT"],
    ["fewer tasks than collectives", { ranks: 1, maxCollectives: 8, maxTasks: 4 }, "INVALID_ARGUMENT"],
    ["a number that is a string", { ranks: 1, blocks: untyped("2") }, "INVALID_ARGUMENT"],
    ["no options", untyped(undefined), "INVALID_ARGUMENT"],
    ["a policy that is none", { ranks: 1, policy: untyped({ order: { kind: "fifo" } }) }, "INVALID_ARGUMENT"],
    ["GPUs that are no numbers", { ranks: 1, devices: untyped(["x"]) }, "INVALID_ARGUMENT"],
    ["more memory than there are addresses", { ranks: 1, arenaBytes: 2 ** 50 }, "OUT_OF_MEMORY"],
  ];
  it.each(faults)("with %s is refused", (_, options, code) => {
    expectFault(
      thrownBy(() => openWorld(options)),
      code,
    );
  });
});
