import type { Collective } from "../collective.js";
import type { Builder } from "./builder.js";
import * as direct from "./direct.js";
import * as staged from "./direct-staged.js";
import * as ring from "./ring.js";

/**
 * Ways to carry out a collective. Those that begin with "direct" or end in "-direct" need ranks that share memory.
 *
 * - `direct`: reads and writes peers' buffers, every byte once.
 * - `direct-one-shot`, `direct-two-shot`: all-reduce by reading everything, or by reducing a shard for everybody.
 * - `ring`: through both neighbours.
 */
export const algorithms = ["direct", "direct-one-shot", "direct-two-shot", "ring"] as const;

export type Algorithm = (typeof algorithms)[number];

/** Builders of an algorithm, in order of preference: the first that allows the wanted placement is taken. */
export type BuilderTable = Readonly<Partial<Record<Algorithm, readonly Builder[]>>>;

export const buildersOf: Readonly<Record<Exclude<Collective, "custom">, BuilderTable>> = {
  "all-reduce": {
    "direct-one-shot": [direct.directOneShotAllReduce, staged.stagedOneShotAllReduce],
    "direct-two-shot": [direct.directTwoShotAllReduce],
    ring: [ring.ringAllReduce],
  },
  "all-gather": { direct: [direct.directAllGather], ring: [ring.ringAllGather] },
  "reduce-scatter": { direct: [direct.directReduceScatter], ring: [ring.ringReduceScatter] },
  reduce: { direct: [direct.directReduce], ring: [ring.ringReduce] },
  broadcast: { direct: [direct.directBroadcast], ring: [ring.ringBroadcast] },
  "all-to-all": { direct: [direct.directAllToAll, staged.stagedAllToAll] },
  gather: { direct: [direct.directGather] },
  scatter: { direct: [direct.directScatter] },
  "send-recv": { direct: [direct.directSendRecv] },
  barrier: { direct: [direct.directBarrier] },
};

export function isAlgorithm(value: unknown): value is Algorithm {
  return (algorithms as readonly unknown[]).includes(value);
}
