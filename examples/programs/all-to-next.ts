import { custom, defineProgram } from "@dfccl/compiler";

// Two nodes of two GPUs; rank = 2 × node + gpu. Rank r's two chunks go to rank r + 1, and the last rank sends nothing.
const ranks = 4;
const allToNext = custom({
  name: "all-to-next",
  ranks,
  inputChunks: 2,
  outputChunks: 2,
  postcondition: (rank, chunk) => (rank === 0 ? undefined : [{ rank: rank - 1, chunk }]),
});

export default defineProgram({ collective: allToNext }, ({ chunk }) => {
  chunk(0, "input", 0, 2).copy(1, "output");
  chunk(2, "input", 0, 2).copy(3, "output");
  // Between the nodes, each chunk takes a network card of its own.
  chunk(1, "input", 0).copy(0, "scratch").copy(2, "output", 0);
  chunk(1, "input", 1).copy(3, "scratch", 0).copy(2, "output", 1);
});
