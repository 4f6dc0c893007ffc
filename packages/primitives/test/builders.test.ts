import { describe, expect, it } from "vitest";
import { buildProgram, type ReduceOp, reduceOps, takesReduceOp, verifyProgram } from "../src/index.js";
import { SeededRandom } from "../src/random.js";
import { everyBuild, everyCollective, expectedOutputs, runTrial } from "./support.js";

// Every builder, rank count, root, placement and number of channels: proved by the verifier and, independently of it,
// run on numbers in random schedules.
describe.each(everyCollective)("%s", (collective) => {
  for (const ranks of [1, 2, 3, 4, 5, 6, 7, 8, 9, 16]) {
    const builds = [...everyBuild(collective, ranks, ranks === 16 ? 1 : 3)];
    if (builds.length === 0) continue;

    it(`of ${ranks} ranks is proved right by every algorithm, for every root and placement`, () => {
      for (const options of builds) {
        const program = buildProgram(options);
        expect(verifyProgram(program).sameBitsOnEveryRank).toBe(true);
        if (options.inPlace !== false) expect(program.inPlace).toBe(true);
        if (options.inPlace !== true) expect(program.outOfPlace).toBe(true);
      }
    });

    it(`of ${ranks} ranks computes what its definition says, in any schedule and with any mixture of placements`, () => {
      const random = new SeededRandom(ranks);
      for (const options of ranks === 16 ? builds.filter((_, index) => index % 5 === 0) : builds) {
        const program = buildProgram(options);
        const someOp = reduceOps[random.below(reduceOps.length)] ?? "sum";
        const op: ReduceOp = takesReduceOp(collective) ? someOp : "sum";
        const mixture = program.ranks.map(() => (program.outOfPlace ? program.inPlace && random.below(2) === 1 : true));
        const trial = { count: random.below(3 * ranks + 3), op, seed: random.next(), tileElements: 1 + random.below(4), inPlace: mixture };
        const result = runTrial(program, trial);
        expect(result, JSON.stringify({ options, trial })).toMatchObject({ ok: true });
        if (result.ok) expect(result.outputs, JSON.stringify({ options, trial })).toEqual(expectedOutputs(program, trial));
      }
    });
  }
});
