import type { BuildableCollective, Placement } from "./build-program.js";
import type { Algorithm } from "./builders/algorithms.js";
import type { Protocol } from "./protocol.js";

/** How a collective will be carried out: what `buildProgram` needs beyond the collective itself. */
export interface SelectionChoice {
  readonly algorithm: Algorithm;
  readonly protocol: Protocol;
  readonly channels: number;
}

/** One line of a table. A condition that is left out always holds. */
export interface SelectionRule {
  readonly collective: BuildableCollective;
  readonly sharedMemory?: boolean;
  /** Whether the ranks are on several machines. */
  readonly spansHosts?: boolean;
  readonly placements?: readonly Placement[];
  readonly maxRanks?: number;
  /** Largest message, in bytes, that the rule is for. */
  readonly maxBytes?: number;
  readonly choice: SelectionChoice;
}

/** Plain data, so that it can be stored, tuned and compared. The first rule that fits decides. */
export type SelectionTable = readonly SelectionRule[];

const choose = (
  algorithm: SelectionChoice["algorithm"],
  protocol: SelectionChoice["protocol"] = "simple",
  channels = 1,
): SelectionChoice => ({ algorithm, protocol, channels });

/** Peers' buffers within reach: every byte is moved once, without slots in between. */
const sharedMemoryRules = sharedMemoryOnly([
  {
    collective: "all-reduce",
    // Below this size a second rank's write costs more than reading everything twice. In place it would need staging.
    placements: [false],
    maxBytes: 8192,
    choice: choose("direct-one-shot"),
  },
  { collective: "all-reduce", choice: choose("direct-two-shot") },
  { collective: "all-gather", choice: choose("direct") },
  { collective: "reduce-scatter", choice: choose("direct") },
  { collective: "reduce", choice: choose("direct") },
  { collective: "broadcast", choice: choose("direct") },
  { collective: "all-to-all", choice: choose("direct") },
  { collective: "gather", choice: choose("direct") },
  { collective: "scatter", choice: choose("direct") },
  { collective: "send-recv", choice: choose("direct") },
  { collective: "barrier", choice: choose("direct") },
]);

function sharedMemoryOnly(rules: readonly SelectionRule[]): SelectionRule[] {
  return rules.map((rule) => ({ ...rule, sharedMemory: true }));
}

/**
 * Messages only. Small ones go where the fewest rounds are and carry their flags inline (LL); large ones where every
 * link carries the fewest bytes.
 */
const connectionRules: readonly SelectionRule[] = [
  { collective: "all-reduce", maxBytes: 32_768, choice: choose("recursive-doubling", "ll") },
  { collective: "all-reduce", maxBytes: 1 << 20, choice: choose("double-binary-tree") },
  { collective: "all-reduce", choice: choose("ring") },
  { collective: "all-gather", maxBytes: 32_768, choice: choose("recursive-doubling", "ll") },
  { collective: "all-gather", choice: choose("ring") },
  { collective: "reduce-scatter", maxBytes: 32_768, maxRanks: 16, choice: choose("all-pairs", "ll") },
  { collective: "reduce-scatter", choice: choose("ring") },
  { collective: "reduce", maxBytes: 32_768, choice: choose("binomial-tree", "ll") },
  { collective: "reduce", choice: choose("ring") },
  { collective: "broadcast", maxBytes: 32_768, choice: choose("binomial-tree", "ll") },
  { collective: "broadcast", choice: choose("ring") },
  { collective: "all-to-all", choice: choose("all-pairs") },
  { collective: "gather", maxBytes: 32_768, choice: choose("binomial-tree", "ll") },
  { collective: "gather", choice: choose("all-pairs") },
  { collective: "scatter", maxBytes: 32_768, choice: choose("binomial-tree", "ll") },
  { collective: "scatter", choice: choose("all-pairs") },
  { collective: "send-recv", choice: choose("point-to-point") },
  { collective: "barrier", choice: choose("dissemination", "ll") },
];

/**
 * Ranks on several machines: what crosses between them, and how often it waits for the network, decides. Several channels
 * keep a wire busy: while one waits for its next slot, another has something to send.
 */
const hostRules: readonly SelectionRule[] = [
  { collective: "all-reduce", spansHosts: true, maxBytes: 16_384, choice: choose("recursive-doubling", "ll") },
  { collective: "all-reduce", spansHosts: true, maxBytes: 1 << 20, choice: choose("hierarchical") },
  { collective: "all-reduce", spansHosts: true, choice: choose("hierarchical", "simple", 4) },
  { collective: "all-reduce", spansHosts: true, maxBytes: 1 << 20, choice: choose("double-binary-tree") },
  { collective: "all-reduce", spansHosts: true, choice: choose("ring", "simple", 4) },
  { collective: "all-gather", spansHosts: true, maxBytes: 1 << 20, choice: choose("recursive-doubling", "ll") },
  { collective: "all-gather", spansHosts: true, choice: choose("ring", "simple", 4) },
  { collective: "reduce-scatter", spansHosts: true, maxBytes: 1 << 20, maxRanks: 16, choice: choose("all-pairs", "ll") },
  { collective: "reduce-scatter", spansHosts: true, choice: choose("ring", "simple", 4) },
];

/** Choices for a machine that hasn't been tuned; the sizes are starting points for the tuner. */
export const defaultSelectionTable: SelectionTable = [...sharedMemoryRules, ...hostRules, ...connectionRules];
