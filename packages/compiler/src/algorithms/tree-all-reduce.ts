import { defineProgram, type Language, type ProgramDefinition } from "../language/define-program.js";
import { allReduce } from "../language/signature.js";
import { type AlgorithmOptions, powersOfTwoBelow, programPart, range, ranksOf } from "./options.js";

type Link = readonly [child: number, parent: number];

/** One chunk goes up a tree, reduced, and the result down again. Links in the order of the way up. */
function upAndDown({ chunk }: Language, links: readonly Link[], index: number): void {
  for (const [child, parent] of links) chunk(parent, "input", index).reduce(chunk(child, "input", index));
  for (const [child, parent] of links.toReversed()) chunk(parent, "output", index).copy(child);
}

/** Partners at doubling distance up to rank 0, and back: 2·log2(ranks) rounds with few messages, for small data. */
export function binomialTreeAllReduce(options: AlgorithmOptions): ProgramDefinition {
  const ranks = ranksOf(options);
  const links = powersOfTwoBelow(ranks).flatMap((distance) =>
    range(ranks)
      .filter((rank) => rank % (2 * distance) === distance)
      .map((rank): Link => [rank, rank - distance]),
  );
  const collective = allReduce({ ranks, inPlace: "either" });
  return defineProgram({ ...programPart(options), name: "all-reduce binomial tree", collective }, (language) =>
    upAndDown(language, links, 0),
  );
}

/**
 * Two binary trees, each for half of the data; a rank is a leaf in one of them at least, so the load is even. Latency grows
 * with the logarithm of the ranks, at nearly full bandwidth.
 */
export function doubleBinaryTreeAllReduce(options: AlgorithmOptions): ProgramDefinition {
  const ranks = ranksOf(options);
  const links: Link[] = [];
  // In order, position p is a leaf exactly if it is even.
  const grow = (first: number, size: number): number => {
    const left = size < 2 ? 0 : 2 ** Math.floor(Math.log2(size)) - 1;
    const root = first + left;
    if (left > 0) links.push([grow(first, left), root]);
    if (size > left + 1) links.push([grow(root + 1, size - left - 1), root]);
    return root;
  };
  grow(0, ranks);
  // Even becomes odd: mirrored if the number of ranks is even, moved on by one if it is odd.
  const other = (rank: number): number => (ranks % 2 === 0 ? ranks - 1 - rank : (rank + 1) % ranks);
  const collective = allReduce({ ranks, chunks: 2, inPlace: "either" });
  return defineProgram({ ...programPart(options), name: "all-reduce double binary tree", collective }, (language) => {
    upAndDown(language, links, 0);
    upAndDown(
      language,
      links.map(([child, parent]): Link => [other(child), other(parent)]),
      1,
    );
  });
}
