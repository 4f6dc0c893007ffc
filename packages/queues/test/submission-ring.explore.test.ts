import { describe, it } from "vitest";
import { submissionRingLayout as layout, wordAt } from "../src/layout.js";
import type { SharedWords } from "../src/shared-words.js";
import { ENTRY_WORDS } from "../src/sqe.js";
import { type ReadMode, SubmissionConsumer } from "../src/submission-consumer.js";
import { SubmissionProducer } from "../src/submission-producer.js";
import { attachSubmissionRing, createSubmissionRing, submissionRingBytes } from "../src/submission-ring.js";
import { sampleSqe, sqeProblem } from "./support/entries.js";
import { expectCaught, expectHolds } from "./support/expectations.js";
import type { Ending, Model, Participant } from "./support/explorer.js";
import { delayStores, mutantWords } from "./support/mutant-words.js";

const capacity = 2;
const entries = wordAt(layout.entries);
const tail = wordAt(layout.tail);
const head = wordAt(layout.head);
const lock = wordAt(layout.producerLock);

type Mutation = (words: SharedWords) => SharedWords;
const asIs: Mutation = (words) => words;

function producer(owner: number, runs: readonly number[], mutate: Mutation = asIs): Participant {
  return {
    name: `producer ${owner}`,
    isKillable: true,
    prepare(words) {
      const role = new SubmissionProducer(attachSubmissionRing(mutate(words)), owner);
      return (io) => {
        for (const run of runs) {
          io.until(() => role.submit([sampleSqe(run)]).ok);
          io.emit(run);
        }
      };
    },
  };
}

function leader(count: number, mode: ReadMode, mutate: Mutation = asIs): Participant {
  return {
    name: "leader",
    isKillable: true,
    prepare(words) {
      const role = new SubmissionConsumer(attachSubmissionRing(mutate(words)), mode);
      return (io) => {
        for (let n = 0; n < count; n++) {
          const sqe = io.until(() => role.take());
          const problem = sqeProblem(sqe);
          if (problem !== undefined) throw new Error(problem);
          io.emit(sqe.run);
        }
      };
    },
  };
}

/** What the leader has read is a prefix of what each producer has sent, and all of it when everybody finished. */
function checkDelivery(sent: readonly (readonly number[])[]) {
  return (ending: Ending) => {
    const got = (ending.outputs.at(-1) ?? []).map(Number);
    if (new Set(got).size !== got.length) throw new Error(`delivered twice: ${got}`);
    for (const runs of sent) {
      const mine = got.filter((run) => runs.includes(run));
      if (mine.some((run, i) => run !== runs[i])) throw new Error(`out of order or lost: ${got}`);
    }
    if (ending.isComplete && got.length !== sent.flat().length) throw new Error(`lost: ${got}`);
    if (ending.ends.includes("stuck") && !ending.ends.some((end) => end === "killed" || end === "gave up")) throw new Error("stuck");
  };
}

function model(sent: readonly (readonly number[])[], participants: readonly Participant[], kills = 0, firstPosition = 65534): Model {
  return {
    wordCount: submissionRingBytes(capacity) / 4,
    setUp: (words) => createSubmissionRing(words, capacity, firstPosition),
    participants,
    check: checkDelivery(sent),
    kills,
  };
}

describe.each<ReadMode>(["tail", "words"])("submission ring read by the %s, every interleaving", (mode) => {
  it("delivers the entries of one producer once, whole and in order, while slots are refilled and sequences wrap", () => {
    expectHolds(model([[1, 2, 3]], [producer(1, [1, 2, 3]), leader(3, mode)]));
  });

  it("delivers the entries of two producers once, whole and in order", () => {
    expectHolds(model([[1], [11]], [producer(1, [1]), producer(2, [11]), leader(2, mode)]));
  });

  it("loses, repeats and tears nothing when any one participant stops anywhere", () => {
    expectHolds(model([[1], [11]], [producer(1, [1]), producer(2, [11]), leader(2, mode)], 1));
  });

  it("is taken over from a producer that died anywhere, and tears nothing", () => {
    expectHolds(takenOver(mode, (role) => role.takeOver(1)));
  });
});

/** Producer 1 may die anywhere; the heir then does as `takeOver` says and submits its own entry. */
function takenOver(mode: ReadMode, takeOver: (heir: SubmissionProducer, words: SharedWords) => boolean): Model {
  const graves = submissionRingBytes(capacity) / 4;
  const heir: Participant = {
    name: "heir",
    prepare(words) {
      const role = new SubmissionProducer(attachSubmissionRing(words), 2);
      const submit = () => role.submit([sampleSqe(11)]).ok;
      return (io) => {
        io.until(() => submit() || (words.load(graves) === 1 && takeOver(role, words) && submit()));
        io.emit(11);
      };
    },
  };
  return {
    ...model([[1], [11]], [producer(1, [1]), heir, { ...leader(2, mode), isKillable: false }], 1),
    wordCount: graves + 3,
    graves,
    attempts: 2,
    check(ending) {
      checkDelivery([[1], [11]])(ending);
      const [firstEnd, heirEnd, leaderEnd] = ending.ends;
      if (firstEnd !== "killed") return;
      if (heirEnd === "stuck") throw new Error("the heir is stuck");
      const isDelivered = ending.outputs[2]?.includes(11);
      if (heirEnd === "done" && leaderEnd === "stuck" && !isDelivered) throw new Error("the heir's entry is lost");
    },
  };
}

describe("submission ring, mutants that the exploration must catch", () => {
  const isEntry = (index: number) => index >= entries;
  const mutants: readonly (readonly [name: string, mode: ReadMode, producers: Mutation, leader: Mutation])[] = [
    [
      "the tail is published before the entry",
      "tail",
      (words) =>
        mutantWords(
          words,
          delayStores(words, isEntry, (i) => i === tail),
        ),
      asIs,
    ],
    [
      "a word's sequence is stored before its payload",
      "words",
      (words) =>
        mutantWords(
          words,
          delayStores(
            words,
            (i) => isEntry(i) && i % 2 === 0,
            (i) => isEntry(i) && i % ENTRY_WORDS === (entries + ENTRY_WORDS - 1) % ENTRY_WORDS,
          ),
        ),
      asIs,
    ],
    [
      "the producer doesn't look whether the ring is full",
      "tail",
      (words) => mutantWords(words, { load: (i) => words.load(i === head ? tail : i) }),
      asIs,
    ],
    [
      "the producers don't exclude each other",
      "tail",
      (words) => mutantWords(words, { compareExchange: (i, e, r) => (i === lock ? e : words.compareExchange(i, e, r)) }),
      asIs,
    ],
    [
      "the leader releases a slot before it has read it",
      "tail",
      asIs,
      (words) =>
        mutantWords(words, {
          plainLoad(i) {
            if ((i - entries) % ENTRY_WORDS === ENTRY_WORDS - 2) words.store(head, (words.load(head) + 1) | 0);
            return words.plainLoad(i);
          },
        }),
    ],
    [
      "the leader goes by the first word's sequence alone",
      "words",
      asIs,
      (words) => mutantWords(words, { load: (i) => words.load(isEntry(i) ? i - ((i - entries) % ENTRY_WORDS) + 1 : i) }),
    ],
    [
      "the leader never releases",
      "tail",
      asIs,
      (words) => mutantWords(words, { store: (i, v) => (i === head ? undefined : words.store(i, v)) }),
    ],
  ];

  it.each(mutants)("%s", (_name, mode, mutateProducers, mutateLeader) => {
    const refilling = model([[1, 2, 3]], [producer(1, [1, 2, 3], mutateProducers), leader(3, mode, mutateLeader)]);
    const competing = model(
      [[1], [11]],
      [producer(1, [1], mutateProducers), producer(2, [11], mutateProducers), leader(2, mode, mutateLeader)],
    );
    expectCaught([refilling, competing], /torn|lost|twice|stuck/);
  });

  it("the heir of a dead producer simply breaks the lock and writes the entry anew", () => {
    const breakLock = (_role: SubmissionProducer, words: SharedWords) => {
      words.store(lock, 0);
      return true;
    };
    expectCaught([takenOver("words", breakLock)], /torn|lost/);
  });
});
