import { testHostileMethods } from "../../../scripts/lib/hostile-methods.js";
import { SeededRandom, ValueFactory } from "../src/index.js";

testHostileMethods("SeededRandom", () => new SeededRandom(1), { next: () => [], below: () => [4] });

const values = new ValueFactory(2, 2, 2);
const input = values.input(0, 0);
testHostileMethods("ValueFactory", () => values, {
  input: () => [0, 1],
  combine: () => [[input, values.input(1, 0)]],
  finish: () => [{ ...input }],
  completeChunk: () => [{ ...input }],
  isReductionOf: () => [{ ...input }, [{ rank: 0, chunk: 0 }]],
  describe: () => [{ ...input }],
});
