import type { Completion } from "./completion.js";
import type { Outcome } from "./outcome.js";
import type { SharedWords } from "./shared-words.js";

/** The completion queues of the papers; the last is the engine's default. */
export const completionQueueNames = ["vanilla-ring", "packed-ring", "cas-slots", "owned-slots"] as const;
export type CompletionQueueName = (typeof completionQueueNames)[number];

/** What a variant needs of memory, and what it gives. */
export interface CompletionGuarantees {
  /** Read-modify-write on host memory, which a GPU may lack. */
  readonly needsHostAtomics: boolean;
  /** Accesses to host memory of a post that meets no other and finds room. */
  readonly operationsPerPost: number;
  /** Completions are polled in the order of posting, and one that is late holds up those behind it. */
  readonly ordered: boolean;
  /** A completion goes to a slot that the submitter claimed and the SQE carried. */
  readonly needsClaim: boolean;
}

/** The submitter's end. Claims are made one at a time: between a producer's `tryReserve` and `publish`. */
export interface CompletionClaimer {
  /** @returns a slot for the SQE to carry ({@link NO_COMPLETION_SLOT} where there are none); `undefined`: full. */
  tryClaim(): number | undefined;
}

/** The daemon's end; any number of them. */
export interface CompletionProducer {
  /** @returns `full` or `busy`: not now, try again at the next step. */
  post(slot: number, completion: Completion): Outcome<"full" | "busy">;
}

/** The host's end. One at a time. */
export interface CompletionPoller {
  /** @returns one completion, or `undefined` if none was found. */
  poll(): Completion | undefined;
}

/** One of the four completion queues of the papers. */
export interface CompletionQueue {
  readonly name: CompletionQueueName;
  readonly words: SharedWords;
  readonly guarantees: CompletionGuarantees;
  claimer(): CompletionClaimer;
  producer(): CompletionProducer;
  poller(): CompletionPoller;
}
