import { type BuildableCollective, buildProgram, collectiveCode, encodeProgram, takesRoot } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { nativeAddon } from "../src/native-addon/native-world.js";

const direct: readonly (readonly [BuildableCollective, "direct" | "direct-two-shot"])[] = [
  ["all-reduce", "direct-two-shot"],
  ["all-gather", "direct"],
  ["reduce-scatter", "direct"],
  ["reduce", "direct"],
  ["broadcast", "direct"],
  ["all-to-all", "direct"],
  ["gather", "direct"],
  ["scatter", "direct"],
  ["send-recv", "direct"],
  ["barrier", "direct"],
];

// A rank that registers from C and one that registers from JavaScript agree only if these are equal, digest included.
describe("the engine's built-in programs are byte for byte those of @dfccl/primitives", () => {
  for (const [collective, algorithm] of direct) {
    it(collective, () => {
      for (const ranks of collective === "send-recv" ? [2] : [1, 2, 3, 5, 8]) {
        for (const root of takesRoot(collective) ? [0, ranks - 1] : [0]) {
          const program = buildProgram({ collective, algorithm, ranks, ...(takesRoot(collective) ? { root } : {}) });
          for (let rank = 0; rank < ranks; rank += 1) {
            const native = nativeAddon().builtInProgram(collectiveCode(collective), ranks, rank, root);
            expect(Buffer.from(native).toString("hex"), `rank ${rank} of ${ranks}, root ${root}`).toBe(
              Buffer.from(encodeProgram(program, rank)).toString("hex"),
            );
          }
        }
      }
    });
  }
});
