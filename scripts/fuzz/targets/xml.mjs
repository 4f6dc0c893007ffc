// Algorithms in MSCCL's XML: written here, then changed.
import * as algorithms from "../../../packages/compiler/dist/algorithms.js";
import { compile, readXml, writeXml } from "../../../packages/compiler/dist/index.js";
import { faultOf } from "../judge.mjs";

const files = [
  algorithms.ringAllReduce({ ranks: 2 }),
  algorithms.allPairsAllGather({ ranks: 4 }),
  algorithms.twoStepAllToAll({ nodes: 2, gpus: 2 }),
].map((definition) => writeXml(compile(definition).program, { name: "fuzz" }));
const numbers = /"-?\d+"/g;

export async function tryCase(random) {
  const file = random.pick(files);
  const places = [...file.matchAll(numbers)];
  const { index, 0: old } = random.pick(places);
  // A number that is another one keeps the form, and so gets further.
  const renumbered = `${file.slice(0, index)}"${random.number()}"${file.slice(index + old.length)}`;
  const text = random.chance(0.5) ? renumbered : random.mutatedText(file);
  try {
    readXml(text, { file: "fuzz.xml" });
  } catch (error) {
    const fault = faultOf(error);
    return fault && `${text}\n${fault}`;
  }
}
