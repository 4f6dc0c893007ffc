import type { SelectionChoice, SelectionRule, SelectionTable } from "./selection.js";

const choose = (algorithm: SelectionChoice["algorithm"], protocol: SelectionChoice["protocol"] = "simple"): SelectionChoice => ({
  algorithm,
  protocol,
  channels: 1,
});

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

const connectionRules: readonly SelectionRule[] = [
  { collective: "all-reduce", choice: choose("ring") },
  { collective: "all-gather", choice: choose("ring") },
  { collective: "reduce-scatter", choice: choose("ring") },
  { collective: "reduce", choice: choose("ring") },
  { collective: "broadcast", choice: choose("ring") },
];

/** Choices that fit an untuned machine. */
export const defaultSelectionTable: SelectionTable = [...sharedMemoryRules, ...connectionRules];
