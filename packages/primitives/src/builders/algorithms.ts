import type { Collective } from "../collective.js";
import * as allPairs from "./all-pairs.js";
import * as binomialGather from "./binomial-gather.js";
import * as binomial from "./binomial-tree.js";
import type { Builder } from "./builder.js";
import * as direct from "./direct.js";
import * as staged from "./direct-staged.js";
import { doubleBinaryTreeAllReduce } from "./double-binary-tree.js";
import { hierarchicalAllReduce } from "./hierarchical.js";
import * as recursiveDoubling from "./recursive-doubling.js";
import * as ring from "./ring.js";
import * as directRing from "./ring-direct.js";
import * as signals from "./signals.js";

/**
 * Ways to carry out a collective. Those that begin with "direct" need ranks that share memory.
 *
 * - `direct`: reads and writes peers' buffers, every byte once.
 * - `direct-one-shot`, `direct-two-shot`: all-reduce by reading everything, or by reducing a shard for everybody.
 * - `direct-two-shot-in-phases`: the two-shot that reads first, all of it, and then writes.
 * - `direct-ring`: a ring that writes results straight into the next rank's output.
 * - `ring`: through both neighbours; best bandwidth, latency grows with the ranks.
 * - `hierarchical`: within machines, then in rings between them, then within machines again; needs `hosts`.
 * - `binomial-tree`: few rounds around a root.
 * - `double-binary-tree`: two trees that share the load; logarithmic latency, nearly full bandwidth.
 * - `recursive-doubling`: partners at doubling distance; fewest rounds. `direct-recursive-doubling`: into each other's outputs.
 * - `all-pairs`, `all-pairs-one-shot`, `all-pairs-two-shot`: everybody with everybody at once.
 * - `point-to-point`: one sender, one receiver. `dissemination`: a barrier of signals at doubling distance.
 */
export const algorithms = [
  "direct",
  "direct-one-shot",
  "direct-two-shot",
  "direct-two-shot-in-phases",
  "direct-ring",
  "ring",
  "hierarchical",
  "binomial-tree",
  "double-binary-tree",
  "recursive-doubling",
  "direct-recursive-doubling",
  "all-pairs",
  "all-pairs-one-shot",
  "all-pairs-two-shot",
  "point-to-point",
  "dissemination",
] as const;

export type Algorithm = (typeof algorithms)[number];

/** Builders of an algorithm, in order of preference: the first that allows the wanted placement is taken. */
export type BuilderTable = Readonly<Partial<Record<Algorithm, readonly Builder[]>>>;

export const buildersOf: Readonly<Record<Exclude<Collective, "custom">, BuilderTable>> = {
  "all-reduce": {
    "direct-one-shot": [direct.directOneShotAllReduce, staged.stagedOneShotAllReduce],
    "direct-two-shot": [direct.directTwoShotAllReduce],
    "direct-two-shot-in-phases": [direct.directTwoShotAllReduceInPhases],
    "direct-ring": [directRing.directRingAllReduce],
    ring: [ring.ringAllReduce],
    hierarchical: [hierarchicalAllReduce],
    "binomial-tree": [binomial.binomialAllReduce],
    "double-binary-tree": [doubleBinaryTreeAllReduce],
    "recursive-doubling": [recursiveDoubling.recursiveDoublingAllReduce],
    "all-pairs-one-shot": [allPairs.allPairsOneShotAllReduce],
    "all-pairs-two-shot": [allPairs.allPairsTwoShotAllReduce],
  },
  "all-gather": {
    direct: [direct.directAllGather],
    "direct-ring": [directRing.directRingAllGather],
    ring: [ring.ringAllGather],
    "recursive-doubling": [recursiveDoubling.recursiveDoublingAllGather],
    "direct-recursive-doubling": [recursiveDoubling.directRecursiveDoublingAllGather],
    "all-pairs": [allPairs.allPairsAllGather],
  },
  "reduce-scatter": {
    direct: [direct.directReduceScatter],
    ring: [ring.ringReduceScatter],
    "all-pairs": [allPairs.allPairsReduceScatter],
  },
  reduce: {
    direct: [direct.directReduce],
    ring: [ring.ringReduce],
    "binomial-tree": [binomial.binomialReduce],
    "all-pairs": [allPairs.allPairsReduce],
  },
  broadcast: {
    direct: [direct.directBroadcast],
    "direct-ring": [directRing.directRingBroadcast],
    ring: [ring.ringBroadcast],
    "binomial-tree": [binomial.binomialBroadcast],
    "all-pairs": [allPairs.allPairsBroadcast],
  },
  "all-to-all": {
    direct: [direct.directAllToAll, staged.stagedAllToAll],
    "all-pairs": [allPairs.allPairsAllToAll],
  },
  gather: {
    direct: [direct.directGather],
    "binomial-tree": [binomialGather.binomialGather],
    "all-pairs": [allPairs.allPairsGather],
  },
  scatter: {
    direct: [direct.directScatter],
    "binomial-tree": [binomialGather.binomialScatter],
    "all-pairs": [allPairs.allPairsScatter],
  },
  "send-recv": { direct: [direct.directSendRecv], "point-to-point": [signals.pointToPoint] },
  barrier: { direct: [direct.directBarrier], dissemination: [signals.disseminationBarrier] },
};

export function isAlgorithm(value: unknown): value is Algorithm {
  return (algorithms as readonly unknown[]).includes(value);
}
