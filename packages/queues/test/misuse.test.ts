import { describe, expect, test } from "vitest";
import {
  attachCompletionQueue,
  attachLeaderBroadcast,
  attachOwnedSlots,
  attachSpmcSubmission,
  attachSubmissionRing,
  BlockHolder,
  BlockPool,
  blockPoolBytes,
  type CompletionQueueName,
  completionGuarantees,
  completionQueueBytes,
  completionQueueNames,
  createCompletionQueue,
  createLeaderBroadcast,
  createOwnedSlots,
  createSpmcSubmission,
  createSubmissionRing,
  FlipFlop,
  flipFlopBytes,
  leaderBroadcastBytes,
  PaddedWaveCaller,
  PaddedWaveWorker,
  paddedWaveBytes,
  QueueMisuseError,
  type SharedWords,
  sharedWords,
  spmcSubmissionBytes,
  submissionRingBytes,
  WaveCaller,
  WaveWorker,
  waveBytes,
} from "../src/index.js";

const memory = (bytes: number): SharedWords => sharedWords(new SharedArrayBuffer(bytes));

/** What is thrown, as a user sees it. */
function misuse(attempt: () => unknown): QueueMisuseError {
  try {
    attempt();
  } catch (error) {
    expect(error).toBeInstanceOf(QueueMisuseError);
    return error as QueueMisuseError;
  }
  throw new Error("nothing was thrown");
}

interface Kind {
  readonly name: string;
  readonly bytes: number;
  readonly make: (words: SharedWords) => unknown;
}
const kinds: readonly Kind[] = [
  { name: "submission ring", bytes: submissionRingBytes(16), make: (words) => createSubmissionRing(words, 16) },
  { name: "leader broadcast", bytes: leaderBroadcastBytes(16, 3), make: (words) => createLeaderBroadcast(words, 16, 3) },
  { name: "SPMC submission", bytes: spmcSubmissionBytes(16), make: (words) => createSpmcSubmission(words, 16, 3) },
  { name: "owned slots", bytes: completionQueueBytes("owned-slots", 16), make: (words) => createOwnedSlots(words, 16) },
  ...completionQueueNames.map((name) => ({
    name,
    bytes: completionQueueBytes(name, 16),
    make: (words: SharedWords) => createCompletionQueue(name, words, 16),
  })),
  { name: "wave caller", bytes: waveBytes, make: (words) => new WaveCaller(words, 3) },
  { name: "wave worker", bytes: waveBytes, make: (words) => new WaveWorker(words) },
  { name: "padded wave caller", bytes: paddedWaveBytes(3), make: (words) => new PaddedWaveCaller(words, 3) },
  { name: "padded wave worker", bytes: paddedWaveBytes(3), make: (words) => new PaddedWaveWorker(words, 2) },
  { name: "flip-flop", bytes: flipFlopBytes, make: (words) => new FlipFlop(words) },
  { name: "block pool", bytes: blockPoolBytes(5), make: (words) => new BlockPool(words, 5) },
];

describe("memory", () => {
  test.each(kinds)("of a $name: as much as its Bytes says is enough, and less is refused", ({ bytes, make }) => {
    make(memory(bytes));
    const { facts, message } = misuse(() => make(memory(bytes - 4)));
    expect(facts).toEqual({ byteLength: bytes - 4, bytes });
    expect(message).toContain("Bytes");
  });

  test.each([...kinds, { name: "block holder", make: (words: SharedWords) => new BlockHolder(words) }])(
    "of a $name: what is none is refused",
    ({ make }) => {
      for (const nothing of [undefined, null, new SharedArrayBuffer(8), new Int32Array(8), 5, {}]) {
        // A buffer has a byteLength, and is no words.
        expect(misuse(() => make(nothing as never)).message).toContain("sharedWords(buffer)");
      }
    },
  );

  test("sharedWords takes buffers only", () => {
    for (const nothing of [undefined, null, 64, "x", new Int32Array(8)]) {
      expect(misuse(() => sharedWords(nothing as never)).message).toContain("SharedArrayBuffer");
    }
    expect(sharedWords(new ArrayBuffer(64)).byteLength).toBe(64);
  });
});

describe("attaching", () => {
  const attaches: readonly [string, (words: SharedWords) => unknown][] = [
    ["a submission ring", attachSubmissionRing],
    ["a leader broadcast", attachLeaderBroadcast],
    ["an SPMC submission", attachSpmcSubmission],
    ["owned slots", attachOwnedSlots],
    ...completionQueueNames.map((name): [string, (words: SharedWords) => unknown] => [name, (words) => attachCompletionQueue(name, words)]),
  ];
  test.each(attaches)("%s where none was made is refused", (_name, attach) => {
    expect(misuse(() => attach(memory(4096))).message).toContain("No queue of this kind");
    expect(misuse(() => attach(memory(0))).facts).toMatchObject({ byteLength: 0 });
    expect(misuse(() => attach(undefined as never)).message).toContain("sharedWords(buffer)");
  });

  test("to a ring that no block reads is refused", () => {
    const words = memory(leaderBroadcastBytes(16, 1));
    createLeaderBroadcast(words, 16, 1);
    words.store(3, 0);
    expect(misuse(() => attachLeaderBroadcast(words)).facts).toMatchObject({ blockCount: 0 });
  });
});

test("a completion queue's name is one of four", () => {
  for (const name of ["owned", "constructor", undefined, 3]) {
    const wrong = name as CompletionQueueName;
    for (const attempt of [
      () => createCompletionQueue(wrong, memory(4096), 16),
      () => attachCompletionQueue(wrong, memory(4096)),
      () => completionQueueBytes(wrong, 16),
      () => completionGuarantees(wrong),
    ]) {
      const { facts, message } = misuse(attempt);
      expect(facts.names).toEqual(completionQueueNames);
      expect(message).toContain("owned-slots");
    }
  }
});
