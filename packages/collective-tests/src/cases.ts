import { checkInteger, checkList, checkNumber, readPlain } from "@dfccl/primitives";
import { type CollectiveName, collectiveFacts, extentOf } from "./collectives.js";
import { type PerfOptions, ranksOf } from "./options.js";
import type { PerfCase } from "./results.js";
import { sweep } from "./sizes.js";
import { isDefinedForType } from "./type-names.js";

/**
 * All that a run measures, in nccl-tests' order: types, operators, roots, sizes from small to large.
 * Types whose values an operator doesn't take are passed over. None for hypercube where the number of ranks is no power of two.
 */
export function casesOf(collective: CollectiveName, given: PerfOptions): PerfCase[] {
  const options = readPlain("options", given);
  const ranks = ranksOf(options);
  checkInteger("ranks", ranks, 1, 65_536);
  checkInteger("options.root", options.root, -1, ranks - 1);
  for (const list of ["op", "datatype"] as const) checkList(`options.${list}`, options[list], "a list, as parseArguments() reads it");
  if (collective === "hypercube" && !isPowerOfTwo(ranks)) return [];
  const { reduces, hasRoot } = collectiveFacts(collective);
  const ops = reduces ? options.op : (["none"] as const);
  const roots = !hasRoot ? [-1] : options.root === -1 ? Array.from({ length: ranks }, (_, rank) => rank) : [options.root];
  const sizes = sweep({
    minBytes: options.minbytes,
    maxBytes: options.maxbytes,
    stepBytes: options.stepbytes,
    stepFactor: options.stepfactor,
  });
  return options.datatype.flatMap((type) =>
    ops
      .filter((op) => op === "none" || isDefinedForType(op, type))
      .flatMap((op) => roots.flatMap((root) => sizes.map((size) => ({ ...extentOf(collective, size, ranks, type), type, op, root })))),
  );
}

export function isPowerOfTwo(n: number): boolean {
  checkNumber("n", n);
  return n > 0 && (n & (n - 1)) === 0;
}
