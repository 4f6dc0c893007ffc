// What a collective executes is a program: build another algorithm, prove it, and run it. It is as preemptible as the rest.
import { openWorld } from "@dfccl/core";
import { buildProgram, verifyProgram } from "@dfccl/primitives";

const ring = buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: 4, protocol: "ll", inPlace: "either" });
verifyProgram(ring); // Throws, naming rank, block and step, if the program could give a wrong result, race or deadlock.

await using world = openWorld({ ranks: 4 });
const sums = await Promise.all(
  world.ranks.map(async (rank) => {
    const sum = rank.register({ id: 0, collective: "all-reduce", dataType: "float64", count: 10_000, program: ring });
    const x = rank.allocate("float64", 10_000).fill(0.5);
    await sum.run(x, x);
    return x[9_999];
  }),
);

console.log(sums); // [ 2, 2, 2, 2 ]
if (sums.some((value) => value !== 2)) throw new Error("4 × 0.5 is 2");
