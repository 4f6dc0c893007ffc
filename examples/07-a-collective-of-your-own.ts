// A collective that no library has, and all-reduces for different sizes, chosen alike on every rank: all preemptible.
import { compile, custom, defineProgram } from "@dfccl/compiler";
import { allPairsTwoShotAllReduce, ringAllReduce } from "@dfccl/compiler/algorithms";
import { openWorld } from "@dfccl/core";
import { selectAmongPrograms } from "@dfccl/primitives";

const ranks = 4;
const swapHalves = custom({
  name: "swap halves",
  ranks,
  inputChunks: 2,
  outputChunks: 2,
  postcondition: (rank, chunk) => [{ rank: rank ^ 1, chunk: 1 - chunk }],
});
const swap = compile(
  defineProgram({ collective: swapHalves }, ({ chunk }) => {
    for (let rank = 0; rank < ranks; rank += 1) for (const half of [0, 1]) chunk(rank, "input", half).copy(rank ^ 1, "output", 1 - half);
  }),
);
const rules = [
  { name: "all-pairs", program: compile(allPairsTwoShotAllReduce({ ranks })).program, maxBytes: 65_536 },
  { name: "ring", program: compile(ringAllReduce({ ranks })).program, minBytes: 65_536 },
];

await using world = openWorld({ ranks });
const results = await Promise.all(
  world.ranks.map(async (rank) => {
    const [count, platform] = [1000, { sharedMemory: true }];
    const chosen = selectAmongPrograms({ collective: "all-reduce", ranks, inPlace: "either", bytes: 4 * count, count, platform }, rules);
    if (chosen.kind !== "program") throw new Error("the rules cover every size");
    const sum = rank.register({ id: 1, collective: "all-reduce", dataType: "float32", count, program: chosen.rule.program });
    // The count of a custom collective is the elements of one chunk.
    const swapped = rank.register({ id: 2, collective: "custom", dataType: "float32", count: 2, program: swap.program });

    const x = rank.allocate("float32", count).fill(rank.number + 1);
    const own = Float32Array.of(10 * rank.number, 10 * rank.number, 10 * rank.number + 1, 10 * rank.number + 1);
    const received = new Float32Array(4);
    // Opposite orders on even and odd ranks: whoever is stuck is preempted.
    const runs = [() => sum.run(x, x), () => swapped.run(own, received)];
    await Promise.all((rank.number % 2 === 0 ? runs : runs.toReversed()).map((run) => run()));
    return [chosen.rule.name, x[0], ...received];
  }),
);

console.log(results); // [ [ "all-pairs", 10, 11, 11, 10, 10 ], [ "all-pairs", 10, 1, 1, 0, 0 ], … ]
if (String(results[0]) !== "all-pairs,10,11,11,10,10") throw new Error("rank 0 has the sum, and rank 1's halves swapped");
