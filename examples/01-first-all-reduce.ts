// Four ranks in one process add up a vector. Nothing else is needed: no stream to choose, no order to keep.
import { openWorld } from "@dfccl/core";

await using world = openWorld({ ranks: 4 });

const results = await Promise.all(
  world.ranks.map(async (rank) => {
    const sum = rank.register({ id: 7, collective: "all-reduce", dataType: "float32", count: 1000, op: "sum" });
    const x = rank.allocate("float32", 1000).fill(rank.number + 1);
    await sum.run(x, x); // In place: the same buffer twice.
    return x[0];
  }),
);

console.log(results); // [ 10, 10, 10, 10 ]
if (results.some((value) => value !== 10)) throw new Error("1 + 2 + 3 + 4 is 10");
