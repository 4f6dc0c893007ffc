// Two ranks submit two collectives in opposite orders, with a device synchronization after the first: the situation that
// hangs NCCL (Fig. 1d of the DFCCL paper). Here the daemon leaves, the synchronization ends, and both collectives complete.
import { openWorld } from "@dfccl/core";

await using world = openWorld({ ranks: 2 });

await Promise.all(
  world.ranks.map(async (rank) => {
    const [a, b] = [0, 1].map((id) => rank.register({ id, collective: "all-reduce", dataType: "int32", count: 4 }));
    const [x, y] = [rank.allocate("int32", 4).fill(1), rank.allocate("int32", 4).fill(10)];
    if (!a || !b) throw new Error("not registered");

    const first = rank.number === 0 ? rank.submit([[a, x, x]]) : rank.submit([[b, y, y]]);
    await rank.synchronize();
    const second = rank.number === 0 ? rank.submit([[b, y, y]]) : rank.submit([[a, x, x]]);

    await first;
    await second;
    console.log(`rank ${rank.number}: ${x[0]} and ${y[0]}, the daemon left ${rank.counters().quits} times`);
    if (x[0] !== 2 || y[0] !== 20) throw new Error("wrong sums");
  }),
);
