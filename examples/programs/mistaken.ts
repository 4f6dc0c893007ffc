import { allGather, defineProgram } from "@dfccl/compiler";

// What is wrong here? dfccl verify tells.
export default defineProgram({ name: "mistaken", collective: allGather({ ranks: 2 }) }, ({ chunk }) => {
  for (const rank of [0, 1]) {
    chunk(rank, "input").copy(rank, "output", rank);
    chunk(rank, "output", rank).copy(1 - rank, "output", 1 - rank);
  }
});
