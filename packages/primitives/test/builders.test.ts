import { describe, expect, it } from "vitest";
import { buildersOf } from "../src/builders/algorithms.js";
import { buildProgram, listAlgorithms, verifyProgram, type BuildableCollective, type Placement } from "../src/index.js";

const everyCollective = Object.keys(buildersOf) as BuildableCollective[];
const rankCounts = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16];
const placements: Placement[] = [false, true, "either"];

describe.each(everyCollective)("%s", (collective) => {
  for (const inPlace of placements) {
    for (const ranks of rankCounts) {
      for (const algorithm of listAlgorithms(collective, ranks, inPlace)) {
        it(`with ${algorithm} on ${ranks} ranks, in place: ${inPlace}, is proved right for every root`, () => {
          const roots = ["reduce", "broadcast", "gather", "scatter", "send-recv"].includes(collective) ? ranks : 1;
          for (let root = 0; root < roots; root += 1) {
            for (const channels of [1, 2, 3]) {
              const program = buildProgram({ collective, algorithm, ranks, inPlace, channels, root: roots > 1 ? root : undefined });
              expect(verifyProgram(program).sameBitsOnEveryRank).toBe(true);
              if (inPlace !== false) expect(program.inPlace).toBe(true);
              if (inPlace !== true) expect(program.outOfPlace).toBe(true);
            }
          }
        });
      }
    }
  }
});
