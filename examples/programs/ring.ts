import { allReduce, defineProgram } from "@dfccl/compiler";

const ranks = 4;
const collective = allReduce({ ranks, chunks: ranks, inPlace: "either" });

// Each chunk goes round the ring twice: reduced into the next rank's, then copied to everybody.
export default defineProgram({ name: "ring", collective }, ({ chunk }) => {
  for (let index = 0; index < ranks; index += 1) {
    let c = chunk((index + 1) % ranks, "input", index);
    for (let step = 2; step <= ranks; step += 1) c = chunk((index + step) % ranks, "input", index).reduce(c);
    for (let step = 1; step < ranks; step += 1) c = c.copy((index + step) % ranks);
  }
});
