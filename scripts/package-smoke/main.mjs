// The ten lines of a new user, run against the published packages on every supported Node.
import { openWorld } from "@dfccl/core";

const world = openWorld({ ranks: 2, backend: "cpu" });
const sums = await Promise.all(
  world.ranks.map(async (rank) => {
    const sum = rank.register({ id: 1, collective: "all-reduce", dataType: "float32", count: 4 });
    const x = rank.allocate("float32", 4).fill(rank.number + 1);
    await sum.run(x, x);
    return x[0];
  }),
);
world.close();
if (sums.some((value) => value !== 3)) throw new Error(`1 + 2 gave ${sums}`);
console.log(`an all-reduce on 2 ranks gave ${sums} on Node ${process.versions.node}`);
