import { allReduce, defineProgram, type Language } from "@dfccl/compiler";

// Three nodes of two GPUs each; rank = 2 × node + gpu. First within the nodes, then between them, and back.
const nodes = 3;
const gpus = 2;
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

function reduceScatter({ chunk }: Language, ring: readonly number[], offset: number, count: number, channel: number): void {
  const at = (position: number): number => ring[position % ring.length] ?? 0;
  for (const position of range(ring.length)) {
    const index = offset + position * count;
    let c = chunk(at(position + 1), "input", index, count);
    for (const step of range(ring.length - 1)) c = chunk(at(position + step + 2), "input", index, count).reduce(c, { channel });
  }
}

function allGather({ chunk }: Language, ring: readonly number[], offset: number, count: number, channel: number): void {
  const at = (position: number): number => ring[position % ring.length] ?? 0;
  for (const position of range(ring.length)) {
    const index = offset + position * count;
    let c = chunk(at(position), "output", index, count);
    for (const step of range(ring.length - 1)) c = c.copy(at(position + step + 1), "output", index, { channel });
  }
}

const collective = allReduce({ ranks: nodes * gpus, chunks: nodes * gpus, inPlace: "either" });

export default defineProgram({ name: "hierarchical", collective }, (language) => {
  const node = (n: number): number[] => range(gpus).map((g) => n * gpus + g);
  const across = (g: number): number[] => range(nodes).map((n) => n * gpus + g);
  for (const n of range(nodes)) reduceScatter(language, node(n), 0, nodes, 0);
  for (const g of range(gpus)) reduceScatter(language, across(g), g * nodes, 1, 1);
  for (const g of range(gpus)) allGather(language, across(g), g * nodes, 1, 1);
  for (const n of range(nodes)) allGather(language, node(n), 0, nodes, 2);
});
