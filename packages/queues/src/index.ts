export { BlockHolder, BlockPool, blockPoolBytes } from "./block-pool.js";
export { type Completion, CompletionStatus, NO_COMPLETION_SLOT } from "./completion.js";
export {
  attachOwnedSlots,
  createOwnedSlots,
  OwnedSlots,
  OwnedSlotsClaimer,
  OwnedSlotsPoller,
  ownedSlotsBytes,
} from "./completion-owned-slots.js";
export { attachCompletionQueue, completionGuarantees, completionQueueBytes, createCompletionQueue } from "./completion-queue.js";
export {
  type CompletionClaimer,
  type CompletionGuarantees,
  type CompletionPoller,
  type CompletionProducer,
  type CompletionQueue,
  type CompletionQueueName,
  completionQueueNames,
} from "./completion-roles.js";
export { QueueMisuseError } from "./errors.js";
export { FlipFlop, flipFlopBytes } from "./flip-flop.js";
export { ownedSlotsLayout, submissionRingLayout, wordAt } from "./layout.js";
export {
  attachLeaderBroadcast,
  BroadcastLeader,
  BroadcastReader,
  createLeaderBroadcast,
  type LeaderBroadcast,
  leaderBroadcastBytes,
} from "./leader-broadcast.js";
export type { Outcome } from "./outcome.js";
export { type SharedWords, sharedWords } from "./shared-words.js";
export {
  attachSpmcSubmission,
  createSpmcSubmission,
  SpmcConsumer,
  SpmcProducer,
  type SpmcSubmission,
  spmcSubmissionBytes,
} from "./spmc-submission.js";
export { SQE_AFTER_CONTROL, SQE_EXIT, type Sqe } from "./sqe.js";
export { type ReadMode, SubmissionConsumer } from "./submission-consumer.js";
export { SubmissionProducer } from "./submission-producer.js";
export { attachSubmissionRing, createSubmissionRing, type SubmissionRing, submissionRingBytes } from "./submission-ring.js";
export { TrainerRing, type ValueSource } from "./trainer-ring.js";
export { WaveCaller, WaveWorker, waveBytes } from "./wave.js";
export { PaddedWaveCaller, PaddedWaveWorker, paddedWaveBytes } from "./wave-padded.js";
export { type ValueSink, WorkerBuffer } from "./worker-buffer.js";
