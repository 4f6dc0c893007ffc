import { testHostileMethods } from "../../../scripts/lib/hostile-methods.js";
import { ringAllReduce } from "../src/algorithms/index.js";
import { allReduce, type ChunkReference, compile, defineProgram, type Language } from "../src/index.js";

/** What a body has; it works on after the program is compiled, on a record that nobody reads. */
function languageOf(): Language {
  let kept: Language | undefined;
  compile(
    defineProgram({ collective: allReduce({ ranks: 2 }), name: "hostile" }, (language) => {
      kept = language as Language;
      const { chunk } = language;
      chunk(0, "input").copy(0, "output").reduce(chunk(1, "input")).copy(1);
    }),
  );
  if (kept === undefined) throw new Error("the body didn't run");
  return kept;
}

testHostileMethods("Language", languageOf, {
  chunk: () => [0, "input", 0, 1],
  parallelize: () => [2, () => {}],
});

let other: ChunkReference | undefined;
const withOther = (): ChunkReference => {
  const language = languageOf();
  other = language.chunk(1, "input");
  return language.chunk(0, "output");
};

testHostileMethods("ChunkReference", withOther, {
  copy: () => [1, "scratch", 0, { channel: 1 }],
  reduce: () => [other, { channel: 1 }],
});
testHostileMethods("CompiledProgram", () => compile(ringAllReduce({ ranks: 2 })), { postcondition: () => [0, 0] });
