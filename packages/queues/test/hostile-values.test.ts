import { testHostileValues } from "../../../scripts/lib/hostile-values.js";
import * as queues from "../src/index.js";
import { sharedWords } from "../src/index.js";

const memory = () => sharedWords(new SharedArrayBuffer(65_536));
const ring = () => queues.createSubmissionRing(memory(), 16);
const spmc = () => queues.createSpmcSubmission(memory(), 16, 3);
const leader = () => queues.createLeaderBroadcast(memory(), 16, 3);
const slots = () => queues.createOwnedSlots(memory(), 16);
const made = (make: (words: queues.SharedWords) => unknown) => () => {
  const words = memory();
  make(words);
  return [words];
};

testHostileValues(
  queues,
  {
    sharedWords: () => [new SharedArrayBuffer(64), 0, 64],
    wordAt: () => [64],
    BlockHolder: () => [memory()],
    BlockPool: () => [memory(), 4],
    blockPoolBytes: () => [4],
    submissionRingBytes: () => [16],
    createSubmissionRing: () => [memory(), 16, 0],
    attachSubmissionRing: made((words) => queues.createSubmissionRing(words, 16)),
    SubmissionProducer: () => [ring(), 1],
    SubmissionConsumer: () => [ring(), "tail"],
    spmcSubmissionBytes: () => [16],
    createSpmcSubmission: () => [memory(), 16, 3],
    attachSpmcSubmission: made((words) => queues.createSpmcSubmission(words, 16, 3)),
    SpmcProducer: () => [spmc()],
    SpmcConsumer: () => [spmc(), 0],
    leaderBroadcastBytes: () => [16, 3],
    createLeaderBroadcast: () => [memory(), 16, 3],
    attachLeaderBroadcast: made((words) => queues.createLeaderBroadcast(words, 16, 3)),
    BroadcastLeader: () => [leader()],
    BroadcastReader: () => [leader(), 0],
    ownedSlotsBytes: () => [16],
    createOwnedSlots: () => [memory(), 16],
    attachOwnedSlots: made((words) => queues.createOwnedSlots(words, 16)),
    OwnedSlotsClaimer: () => [slots()],
    OwnedSlotsPoller: () => [slots()],
    completionQueueBytes: () => ["owned-slots", 16],
    createCompletionQueue: () => ["owned-slots", memory(), 16],
    attachCompletionQueue: () => {
      const words = memory();
      queues.createCompletionQueue("owned-slots", words, 16);
      return ["owned-slots", words];
    },
    completionGuarantees: () => ["owned-slots"],
    FlipFlop: () => [memory()],
    WaveCaller: () => [memory(), 3],
    WaveWorker: () => [memory()],
    PaddedWaveCaller: () => [memory(), 3],
    PaddedWaveWorker: () => [memory(), 2],
    paddedWaveBytes: () => [3],
  },
  {
    except: {
      OwnedSlots: "is made by createOwnedSlots() and attachOwnedSlots()",
      TrainerRing: "is made of the queues of a training, which the compiler checks",
      WorkerBuffer: "is made of the queues of a training, which the compiler checks",
    },
  },
);
