import { describe, expect, it } from "vitest";
import { buildersOf } from "../src/builders/algorithms.js";
import { buildProgram, listAlgorithms, takesRoot, verifyProgram, type BuildableCollective, type Placement } from "../src/index.js";

const everyCollective = Object.keys(buildersOf) as BuildableCollective[];
const rankCounts = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16];
const placements: Placement[] = [false, true, "either"];

describe.each(everyCollective)("%s", (collective) => {
  for (const inPlace of placements) {
    for (const ranks of rankCounts) {
      for (const algorithm of listAlgorithms(collective, ranks, inPlace)) {
        it(`with ${algorithm} on ${ranks} ranks, in place: ${inPlace}, is proved right for every root`, () => {
          const roots = takesRoot(collective) ? Array.from({ length: ranks }, (_, root) => root) : [undefined];
          const mostChannels = Math.min(3, ...(buildersOf[collective][algorithm] ?? []).map((builder) => builder.maxChannels ?? 3));
          for (const root of roots) {
            for (let channels = 1; channels <= mostChannels; channels += 1) {
              const program = buildProgram({ collective, algorithm, ranks, inPlace, channels, root });
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
