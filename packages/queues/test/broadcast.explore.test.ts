import { describe, it } from "vitest";
import { leaderBroadcastLayout, spmcSubmissionLayout, wordAt } from "../src/layout.js";
import {
  attachLeaderBroadcast,
  BroadcastLeader,
  BroadcastReader,
  createLeaderBroadcast,
  leaderBroadcastBytes,
} from "../src/leader-broadcast.js";
import type { SharedWords } from "../src/shared-words.js";
import { attachSpmcSubmission, createSpmcSubmission, SpmcConsumer, SpmcProducer, spmcSubmissionBytes } from "../src/spmc-submission.js";
import { ENTRY_WORDS, type Sqe } from "../src/sqe.js";
import { sampleSqe, sqeProblem } from "./support/entries.js";
import { expectCaught, expectHolds } from "./support/expectations.js";
import type { Ending, Model, Participant } from "./support/explorer.js";
import { delayStores, mutantWords, withoutAtomicity } from "./support/mutant-words.js";

const capacity = 2;
const blockCount = 2;
const runs = [1, 2, 3];

type Mutation = (words: SharedWords) => SharedWords;
const asIs: Mutation = (words) => words;

/** What the two queues that every block reads have in common. */
interface Broadcast {
  readonly bytes: number;
  /** Where the first entry lies and how far they are apart, in words. */
  readonly firstEntry: number;
  readonly entryWords: number;
  create(words: SharedWords, firstPosition: number): void;
  publisher(words: SharedWords, firstPosition: number): (sqe: Sqe) => boolean;
  reader(words: SharedWords, block: number, firstPosition: number): () => Sqe | undefined;
}

const leaderBroadcast: Broadcast = {
  bytes: leaderBroadcastBytes(capacity, blockCount),
  firstEntry: wordAt(leaderBroadcastLayout.cursors + blockCount * leaderBroadcastLayout.cursorBytes),
  entryWords: wordAt(leaderBroadcastLayout.entryBytes),
  create: (words, firstPosition) => createLeaderBroadcast(words, capacity, blockCount, firstPosition),
  publisher(words) {
    const leader = new BroadcastLeader(attachLeaderBroadcast(words));
    return (sqe) => leader.tryPublish(sqe).ok;
  },
  reader(words, block) {
    const reader = new BroadcastReader(attachLeaderBroadcast(words), block);
    return () => reader.take();
  },
};

const spmc: Broadcast = {
  bytes: spmcSubmissionBytes(capacity),
  firstEntry: wordAt(spmcSubmissionLayout.entries),
  entryWords: wordAt(spmcSubmissionLayout.entryBytes),
  create: (words, firstPosition) => createSpmcSubmission(words, capacity, blockCount, firstPosition),
  publisher(words, firstPosition) {
    const producer = new SpmcProducer(attachSpmcSubmission(words), firstPosition);
    return (sqe) => producer.trySubmit(sqe).ok;
  },
  reader(words, _block, firstPosition) {
    const consumer = new SpmcConsumer(attachSpmcSubmission(words), firstPosition);
    return () => consumer.take();
  },
};

function model(
  queue: Broadcast,
  options: { writer?: Mutation; block?: (words: SharedWords, block: number) => SharedWords; kills?: number; runs?: readonly number[] } = {},
): Model {
  const sent = options.runs ?? runs;
  const firstPosition = 2 ** 32 - 2;
  const writer: Participant = {
    name: "writer",
    isKillable: true,
    prepare(words) {
      const publish = queue.publisher((options.writer ?? asIs)(words), firstPosition);
      return (io) => {
        for (const run of sent) io.until(() => publish(sampleSqe(run)));
      };
    },
  };
  const blocks = Array.from(
    { length: blockCount },
    (_, block): Participant => ({
      name: `block ${block}`,
      isKillable: true,
      prepare(words) {
        const take = queue.reader((options.block ?? asIs)(words, block), block, firstPosition);
        return (io) => {
          for (let n = 0; n < sent.length; n++) {
            const sqe = io.until(take);
            const problem = sqeProblem(sqe);
            if (problem !== undefined) throw new Error(problem);
            io.emit(sqe.run);
          }
        };
      },
    }),
  );
  const check = (ending: Ending) => {
    for (const got of ending.outputs.slice(1)) {
      if (got.some((run, i) => run !== sent[i])) throw new Error(`lost, repeated or out of order: ${got}`);
    }
    if (ending.ends.includes("stuck") && !ending.ends.some((end) => end === "killed" || end === "gave up")) throw new Error("stuck");
  };
  return {
    wordCount: queue.bytes / 4,
    setUp: (words) => queue.create(words, firstPosition),
    participants: [writer, ...blocks],
    check,
    kills: options.kills ?? 0,
    attempts: 2,
    // Of an entry's eight words the first and the last stand for all.
    isMerged(index) {
      const within = (index - queue.firstEntry) % queue.entryWords;
      return index >= queue.firstEntry && within >= 2 && within < ENTRY_WORDS - 2;
    },
  };
}

describe.each([
  ["leader broadcast", leaderBroadcast],
  ["SPMC submission", spmc],
])("%s, every interleaving", (_name, queue) => {
  it("shows every block every entry once, whole and in order, while slots are refilled and counters wrap", () => {
    expectHolds(model(queue));
  });

  it("loses, repeats and tears nothing when any one participant stops anywhere", () => {
    expectHolds(model(queue, { kills: 1, runs: [1, 2] }));
  });
});

describe("leader broadcast, mutants that the exploration must catch", () => {
  const { tail, cursors, cursorBytes } = leaderBroadcastLayout;
  const firstSlot = wordAt(cursors + blockCount * cursorBytes);
  const cursorOf = (block: number) => wordAt(cursors + block * cursorBytes);

  it("the tail is published before the entry", () => {
    const writer: Mutation = (words) =>
      mutantWords(
        words,
        delayStores(
          words,
          (i) => i >= firstSlot,
          (i) => i === wordAt(tail),
        ),
      );
    // The position wraps in the first step, by a 64-bit store; the mutant delays 32-bit ones, so it shows in the second.
    expectCaught([model(leaderBroadcast, { writer })], /torn|lost/);
  });

  it("the leader looks at one block's cursor only", () => {
    const writer: Mutation = (words) => mutantWords(words, { load: (i) => words.load(i === cursorOf(1) ? cursorOf(0) : i) });
    expectCaught([model(leaderBroadcast, { writer })], /torn|lost/);
  });

  it("a block passes an entry before it has read it", () => {
    const block = (words: SharedWords, index: number) =>
      mutantWords(words, {
        plainLoad(i) {
          const isFirstWord = i >= firstSlot && (i - firstSlot) % ENTRY_WORDS === 0;
          if (isFirstWord) words.store(cursorOf(index), (words.load(cursorOf(index)) + 1) | 0);
          return words.plainLoad(i);
        },
      });
    expectCaught([model(leaderBroadcast, { block })], /torn|lost/);
  });
});

describe("SPMC submission, mutants that the exploration must catch", () => {
  const { entries, entryBytes, turn, readers } = spmcSubmissionLayout;
  const within = (i: number) => (i - wordAt(entries)) % wordAt(entryBytes);
  const isTurn = (i: number) => i >= wordAt(entries) && within(i) === wordAt(turn);
  const isReaders = (i: number) => i >= wordAt(entries) && within(i) === wordAt(readers);

  it("the turn is published before the entry", () => {
    const writer: Mutation = (words) =>
      mutantWords(
        words,
        delayStores(words, (i) => i >= wordAt(entries) && within(i) < 16, isTurn),
      );
    expectCaught([model(spmc, { writer })], /torn|lost/);
  });

  it("the producer doesn't wait for the slot to be freed", () => {
    const writer: Mutation = (words) => {
      let position = 2 ** 32 - 2;
      return mutantWords(words, { load: (i) => (isTurn(i) ? position++ | 0 : words.load(i)) });
    };
    expectCaught([model(spmc, { writer })], /torn|lost|stuck/);
  });

  it("the first block frees the slot instead of the last", () => {
    const block: Mutation = (words) => mutantWords(words, { add: (i, v) => words.add(i, v) + (isReaders(i) ? blockCount - 1 : 0) });
    expectCaught([model(spmc, { block })], /torn|lost|stuck/);
  });

  it("blocks count with a load and a store", () => {
    const block: Mutation = (words) => mutantWords(words, withoutAtomicity(words));
    expectCaught([model(spmc, { block })], /stuck/);
  });

  it("the count is not reset", () => {
    const block: Mutation = (words) => mutantWords(words, { store: (i, v) => (isReaders(i) ? undefined : words.store(i, v)) });
    expectCaught([model(spmc, { block, runs: [1, 2, 3, 4, 5] })], /stuck/);
  });
});
