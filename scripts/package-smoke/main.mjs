// The ten lines of a new user, run against the published packages on every supported Node.
import { openWorld } from "@dfccl/core";

const world = openWorld({ ranks: 2, backend: "cpu" });
const results = await Promise.all(
  world.ranks.map(async (rank) => {
    const sum = rank.register({ id: 7, collective: "all-reduce", dataType: "float32", count: 4, op: "sum", ranks: [0, 1] });
    const x = rank.allocate("float32", 4).fill(rank.number + 1);
    await sum.run(x, x);
    return [...x].join(" ");
  }),
);
world.close();
console.log(`Node ${process.versions.node}: ${results.join(" | ")}`);
if (results.some((result) => result !== "3 3 3 3")) process.exit(1);
