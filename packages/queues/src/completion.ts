import { checkNumbers } from "./errors.js";

/** Status of a completion; 0 marks a free slot and is never posted. */
export const CompletionStatus = { completed: 1, aborted: 2, mismatched: 3 } as const;
export type CompletionStatus = (typeof CompletionStatus)[keyof typeof CompletionStatus];

/** A completion queue entry: one 64-bit word, the id in its low half, status and run in its high half. */
export interface Completion {
  /** Collective id, 32 bits. */
  readonly id: number;
  readonly status: CompletionStatus;
  /** The low 16 bits of the run number. */
  readonly run: number;
}

/** What an SQE carries where the completion queue has no slots. */
export const NO_COMPLETION_SLOT = 0xffffffff;

/** @throws {QueueMisuseError} naming the field that is no number. */
export function checkCompletion(completion: Completion): void {
  checkNumbers("completion", completion, ["id", "status", "run"]);
}

export function lowWord(completion: Completion): number {
  return completion.id | 0;
}

export function highWord(completion: Completion): number {
  return completion.status | (completion.run << 16);
}

/** @param high - of a posted entry, without anything that a queue has packed into it. */
export function completionOf(low: number, high: number): Completion {
  return { id: low >>> 0, status: (high & 0xffff) as CompletionStatus, run: high >>> 16 };
}
