// Four ranks in one process add up a vector. Nothing else is needed: no stream to choose, no order to keep.
import { openWorld } from "@dfccl/core";

await using world = openWorld({ ranks: 4 });

const results = await Promise.all(
  world.ranks.map(async (rank) => {
    const x = rank.allocate("float32", 1000).fill(rank.number + 1);
    await rank.allReduce(x); // In place; { into: y } for elsewhere.
    return x[0];
  }),
);

console.log(results); // [ 10, 10, 10, 10 ]
if (results.some((value) => value !== 10)) throw new Error("1 + 2 + 3 + 4 is 10");
