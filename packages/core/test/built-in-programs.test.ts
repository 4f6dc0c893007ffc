import { type Algorithm, type BuildableCollective, buildProgram, collectiveCode, encodeProgram, takesRoot } from "@dfccl/primitives";
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

const apart: readonly (readonly [BuildableCollective, Algorithm])[] = [
  ["all-reduce", "hierarchical"],
  ["all-gather", "all-pairs"],
  ["reduce-scatter", "all-pairs"],
  ["reduce", "all-pairs"],
  ["broadcast", "all-pairs"],
  ["all-to-all", "all-pairs"],
  ["gather", "all-pairs"],
  ["scatter", "all-pairs"],
  ["send-recv", "point-to-point"],
  ["barrier", "dissemination"],
];

describe("and so are those for ranks on several machines", () => {
  for (const [collective, algorithm] of apart) {
    it(collective, () => {
      for (const hosts of collective === "send-recv"
        ? [[0, 1]]
        : [
            [0, 1],
            [0, 0, 1, 1],
            [0, 1, 0, 1, 0, 1],
            [0, 1, 2],
          ]) {
        const ranks = hosts.length;
        for (const root of takesRoot(collective) ? [0, ranks - 1] : [0]) {
          for (const channels of collective === "barrier" ? [1] : [1, 4]) {
            const program = buildProgram({ collective, algorithm, ranks, hosts, channels, ...(takesRoot(collective) ? { root } : {}) });
            for (let rank = 0; rank < ranks; rank += 1) {
              const native = nativeAddon().builtInProgram(collectiveCode(collective), ranks, rank, root, Uint32Array.from(hosts), channels);
              expect(Buffer.from(native).toString("hex"), `rank ${rank} of ${hosts}, root ${root}, ${channels} channels`).toBe(
                Buffer.from(encodeProgram(program, rank)).toString("hex"),
              );
            }
          }
        }
      }
    });
  }
});

it("refuses what is no program of ours", () => {
  const { builtInProgram } = nativeAddon();
  const whole = collectiveCode("all-reduce");
  const wrong: readonly (readonly unknown[])[] = [
    [],
    [-1, -1, -1, -1],
    [collectiveCode("custom"), 2, 0, 0],
    [whole, 0, 0, 0],
    [whole, 2, 2, 0],
    [whole, 2, 0, 2],
    [whole, 2 ** 31, 0, 0],
    [whole, 2, 0, 0, undefined, 0],
    [collectiveCode("barrier"), 2, 0, 0, undefined, 4],
    [whole, 2, 0, 0, new Float64Array(2), 1],
    [whole, 2, 0, 0, Uint32Array.of(0, 1), 0],
  ];
  for (const given of wrong) expect(() => builtInProgram(...(given as Parameters<typeof builtInProgram>)), String(given)).toThrow();
});

it("and so is GPUs' all-reduce for large buffers", () => {
  for (const ranks of [2, 3, 5, 8]) {
    for (const channels of [1, 4, 32]) {
      const program = buildProgram({ collective: "all-reduce", algorithm: "direct-two-shot-in-phases", ranks, channels });
      for (let rank = 0; rank < ranks; rank += 1) {
        const native = nativeAddon().builtInProgram(collectiveCode("all-reduce"), ranks, rank, 0, undefined, channels);
        expect(Buffer.from(native).toString("hex"), `rank ${rank} of ${ranks}, ${channels} channels`).toBe(
          Buffer.from(encodeProgram(program, rank)).toString("hex"),
        );
      }
    }
  }
});
