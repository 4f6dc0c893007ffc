import { attachCasSlots, casSlotsBytes, casSlotsGuarantees, createCasSlots } from "./completion-cas-slots.js";
import { attachOwnedSlots, createOwnedSlots, ownedSlotsBytes, ownedSlotsGuarantees } from "./completion-owned-slots.js";
import { attachPackedRing, createPackedRing, packedRingBytes, packedRingGuarantees } from "./completion-packed-ring.js";
import type { CompletionGuarantees, CompletionQueue, CompletionQueueName } from "./completion-roles.js";
import { attachVanillaRing, createVanillaRing, vanillaRingBytes, vanillaRingGuarantees } from "./completion-vanilla-ring.js";
import { QueueMisuseError } from "./errors.js";
import type { SharedWords } from "./shared-words.js";

const variants = {
  "vanilla-ring": { bytes: vanillaRingBytes, create: createVanillaRing, attach: attachVanillaRing, guarantees: vanillaRingGuarantees },
  "packed-ring": { bytes: packedRingBytes, create: createPackedRing, attach: attachPackedRing, guarantees: packedRingGuarantees },
  "cas-slots": { bytes: casSlotsBytes, create: createCasSlots, attach: attachCasSlots, guarantees: casSlotsGuarantees },
  "owned-slots": { bytes: ownedSlotsBytes, create: createOwnedSlots, attach: attachOwnedSlots, guarantees: ownedSlotsGuarantees },
} as const satisfies Record<CompletionQueueName, unknown>;

function variantOf(name: CompletionQueueName): (typeof variants)[CompletionQueueName] {
  if (typeof name === "string" && Object.hasOwn(variants, name)) return variants[name];
  const names = Object.keys(variants);
  throw new QueueMisuseError(
    `There is no completion queue ${typeof name === "string" ? name : `called by a ${typeof name}`}.`,
    { name, names },
    `Give one of ${names.join(", ")}.`,
  );
}

export function completionGuarantees(name: CompletionQueueName): CompletionGuarantees {
  return variantOf(name).guarantees;
}

/** Bytes that a queue of `capacity` completions takes. */
export function completionQueueBytes(name: CompletionQueueName, capacity: number): number {
  return variantOf(name).bytes(capacity);
}

/**
 * Makes an empty completion queue before anyone else sees the memory.
 * @param capacity - completions, a power of two; at least 8 for the variants with slots.
 * @param first - the counters' first value, for tests of their wraps.
 * @throws {QueueMisuseError} for another capacity, another name, or too little memory.
 */
export function createCompletionQueue(name: CompletionQueueName, words: SharedWords, capacity: number, first = 0): CompletionQueue {
  return variantOf(name).create(words, capacity, first);
}

/** The queue that somebody else (perhaps native code) made in this memory, of the same variant. */
export function attachCompletionQueue(name: CompletionQueueName, words: SharedWords): CompletionQueue {
  return variantOf(name).attach(words);
}
