// The hot path: many collectives published at once, without a call into the engine, and a callback for each.
import { openWorld } from "@dfccl/core";

await using world = openWorld({ ranks: 2 });
const tensors = 100;

await Promise.all(
  world.ranks.map(async (rank) => {
    const gradients = Array.from({ length: tensors }, (_, id) => ({
      // Later layers are needed first by the next step: larger numbers are more urgent.
      sum: rank.register({ id, collective: "all-reduce", dataType: "float32", count: 256, op: "avg", priority: id }),
      values: rank.allocate("float32", 256).fill(id + rank.number),
    }));
    let completed = 0;
    await rank.submit(
      gradients.map(({ sum, values }) => [sum, values, values]),
      { onComplete: () => (completed += 1) },
    );
    console.log(`rank ${rank.number}: ${completed} averages, the last is ${gradients.at(-1)?.values[0]}`);
    if (completed !== tensors || gradients.at(-1)?.values[0] !== tensors - 0.5) throw new Error("wrong averages");
  }),
);
