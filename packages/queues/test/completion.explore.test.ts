import { describe, it } from "vitest";
import { type Completion, CompletionStatus } from "../src/completion.js";
import { attachCompletionQueue, completionQueueBytes, createCompletionQueue } from "../src/completion-queue.js";
import { type CompletionQueueName, completionQueueNames } from "../src/completion-roles.js";
import { casSlotsLayout, ownedSlotsLayout, packedRingLayout, vanillaRingLayout, wordAt } from "../src/layout.js";
import type { SharedWords } from "../src/shared-words.js";
import { expectCaught, expectHolds } from "./support/expectations.js";
import type { Ending, Model, Participant } from "./support/explorer.js";
import { delayStores, mutantWords, withoutAtomicity } from "./support/mutant-words.js";

type Mutation = (words: SharedWords) => SharedWords;
const asIs: Mutation = (words) => words;

const capacityOf = (name: CompletionQueueName) => (name === "owned-slots" ? 8 : 2);
const firstOf = (name: CompletionQueueName) => (name === "cas-slots" ? 0 : 2 ** 32 - 2);

// Every bit of a completion follows from its number, so that a torn one is recognised. Ids that start at different slots.
function completionOf(number: number): Completion {
  return { id: number * 65537, status: number % 2 === 0 ? CompletionStatus.completed : CompletionStatus.aborted, run: number * 257 };
}

function numberOf(completion: Completion): number {
  const number = completion.run / 257;
  const whole = completionOf(number);
  if (whole.id !== completion.id || whole.status !== completion.status) throw new Error(`torn completion: ${JSON.stringify(completion)}`);
  return number;
}

interface Options {
  readonly producers?: readonly (readonly number[])[];
  readonly producer?: Mutation;
  readonly poller?: Mutation;
  readonly kills?: number;
}

/** Producers post completions; where slots must be claimed, the claims have been made, as an SQE would carry them. */
function model(name: CompletionQueueName, options: Options = {}): Model {
  const posts = options.producers ?? [[1, 2], [3]];
  const all = posts.flat();
  const producers = posts.map(
    (numbers, index): Participant => ({
      name: `producer ${index}`,
      isKillable: true,
      prepare(words) {
        const producer = attachCompletionQueue(name, (options.producer ?? asIs)(words)).producer();
        return (io) => {
          for (const number of numbers) {
            io.until(() => producer.post(all.indexOf(number), completionOf(number)).ok);
            io.emit(number);
          }
        };
      },
    }),
  );
  const poller: Participant = {
    name: "poller",
    isKillable: true,
    prepare(words) {
      const role = attachCompletionQueue(name, (options.poller ?? asIs)(words)).poller();
      return (io) => {
        for (let n = 0; n < all.length; n++) io.emit(numberOf(io.until(() => role.poll())));
      };
    },
  };
  const check = (ending: Ending) => {
    const got = ending.outputs.at(-1) ?? [];
    if (new Set(got).size !== got.length) throw new Error(`delivered twice: ${got}`);
    if (got.some((number) => !all.includes(Number(number)))) throw new Error(`never posted: ${got}`);
    if (ending.isComplete && got.length !== all.length) throw new Error(`lost: ${got}`);
    const isExcused = ending.ends.some((end) => end === "killed" || end === "gave up");
    if (ending.ends.includes("stuck") && !isExcused) throw new Error("stuck");
    // A finished post is delivered unless something before it was cut short; without an order, always.
    const isPollerWaiting = ending.ends.at(-1) === "stuck";
    const finished = ending.outputs.slice(0, -1).flat();
    if (isPollerWaiting && name.endsWith("slots") && finished.some((number) => !got.includes(number))) throw new Error(`lost: ${got}`);
  };
  return {
    wordCount: completionQueueBytes(name, capacityOf(name)) / 4,
    setUp(words) {
      const claimer = createCompletionQueue(name, words, capacityOf(name), firstOf(name)).claimer();
      for (const _ of all) claimer.tryClaim();
    },
    participants: [...producers, poller],
    check,
    kills: options.kills ?? 0,
    attempts: 2,
  };
}

describe.each(completionQueueNames)("%s, every interleaving", (name) => {
  it("delivers every completion once and whole, while entries are reused and counters wrap", () => {
    expectHolds(model(name));
    expectHolds(model(name, { producers: [[1, 2, 3, 4]] }));
  });

  it("loses, repeats and tears nothing when any one participant stops anywhere", () => {
    expectHolds(model(name, { kills: 1 }));
  });
});

describe("owned slots, the whole round, every interleaving", () => {
  const name = "owned-slots";
  const runs = [1, 2];
  // Words after the queue: a mailbox a run (slot + 1), and what the submitter keeps beside each slot (the run).
  const mailbox = completionQueueBytes(name, 8) / 4;
  const beside = mailbox + runs.length + 1;

  function round(mutatePoller: Mutation): Model {
    const submitter: Participant = {
      name: "submitter",
      prepare(words) {
        const claimer = attachCompletionQueue(name, words).claimer();
        return (io) => {
          for (const run of runs) {
            const slot = io.until(() => {
              const claimed = claimer.tryClaim();
              return claimed === undefined ? undefined : { claimed };
            }).claimed;
            words.plainStore(beside + slot, run);
            words.store(mailbox + run, slot + 1);
          }
        };
      },
    };
    const daemon: Participant = {
      name: "daemon",
      prepare(words) {
        const producer = attachCompletionQueue(name, words).producer();
        return (io) => {
          for (const run of runs) producer.post(io.until(() => words.load(mailbox + run) || undefined) - 1, completionOf(run));
        };
      },
    };
    const poller: Participant = {
      name: "poller",
      prepare(words) {
        const role = attachCompletionQueue(name, mutatePoller(words)).poller();
        return (io) => {
          for (const _ of runs) io.emit(numberOf(io.until(() => role.poll())));
        };
      },
    };
    return {
      wordCount: beside + 8,
      setUp(words) {
        const claimer = createCompletionQueue(name, words, 8, 2 ** 32 - 1).claimer();
        // All slots but one stay claimed, so that the one is used again and again.
        for (let i = 0; i < 7; i++) claimer.tryClaim();
      },
      participants: [submitter, daemon, poller],
      check(ending) {
        const got = ending.outputs[2] ?? [];
        if (got.some((run, i) => run !== runs[i])) throw new Error(`wrong or twice: ${got}`);
        if (ending.isComplete && got.length !== runs.length) throw new Error(`lost: ${got}`);
        if (ending.ends.includes("stuck") && !ending.ends.includes("gave up")) throw new Error("stuck");
      },
      attempts: 2,
    };
  }

  it("a slot serves one run after another", () => expectHolds(round(asIs)));

  it("mutant: the poller frees a slot before it has taken the completion out", () => {
    const freed = wordAt(ownedSlotsLayout.freed);
    const isSlot = (i: number) => i >= wordAt(ownedSlotsLayout.slots) && i < wordAt(ownedSlotsLayout.slots) + 16;
    const poller: Mutation = (words) =>
      mutantWords(
        words,
        delayStores(words, isSlot, (i) => i === freed),
      );
    expectCaught([round(poller)], /stuck|twice|torn|lost/);
  });
});

describe("completion queues, mutants that the exploration must catch", () => {
  const vanilla = vanillaRingLayout;
  const packed = packedRingLayout;
  const isVanillaEntry = (i: number) => i >= wordAt(vanilla.entries);
  const isPackedEntry = (i: number) => i >= wordAt(packed.entries);
  const isOwnedSlot = (i: number) => i >= wordAt(ownedSlotsLayout.slots);

  const mutants: readonly (readonly [name: string, queue: CompletionQueueName, options: Options])[] = [
    [
      "the tail is published before the entry",
      "vanilla-ring",
      {
        producer: (words) =>
          mutantWords(
            words,
            delayStores(words, isVanillaEntry, (i) => i === wordAt(vanilla.tail)),
          ),
        producers: [[1, 2, 3]],
      },
    ],
    ["producers don't exclude each other", "vanilla-ring", { producer: (words) => mutantWords(words, { compareExchange: (_i, e) => e }) }],
    [
      "the producer doesn't look whether it is full",
      "vanilla-ring",
      {
        producer: (words) => mutantWords(words, { load: (i) => words.load(i === wordAt(vanilla.head) ? wordAt(vanilla.tail) : i) }),
        producers: [[1, 2, 3, 4]],
      },
    ],
    ["positions are reserved with a load and a store", "packed-ring", { producer: (words) => mutantWords(words, withoutAtomicity(words)) }],
    [
      "the half with the lap is stored first",
      "packed-ring",
      {
        producer: (words) =>
          mutantWords(
            words,
            delayStores(
              words,
              (i) => isPackedEntry(i) && i % 2 === 0,
              (i) => isPackedEntry(i) && i % 2 === 1,
            ),
          ),
      },
    ],
    [
      "the producer doesn't look whether it is full",
      "packed-ring",
      {
        producer: (words) =>
          mutantWords(words, { load: (i) => (i === wordAt(packed.head) ? words.load(wordAt(packed.reserved)) : words.load(i)) }),
        producers: [[1, 2, 3, 4]],
      },
    ],
    [
      "slots are taken with a load and a store",
      "cas-slots",
      { producer: (words) => mutantWords(words, withoutAtomicity(words)), producers: [[0], [2]] },
    ],
    [
      "the poller clears the half with the status first",
      "cas-slots",
      {
        poller: (words) =>
          mutantWords(
            words,
            delayStores(
              words,
              (i) => i >= wordAt(casSlotsLayout.slots) && i % 2 === 0,
              (i) => i % 2 === 1,
            ),
          ),
        producers: [[0, 1, 2, 3]],
      },
    ],
    [
      "the half with the status is stored first",
      "owned-slots",
      {
        producer: (words) =>
          mutantWords(
            words,
            delayStores(
              words,
              (i) => isOwnedSlot(i) && i % 2 === 0,
              (i) => isOwnedSlot(i) && i % 2 === 1,
            ),
          ),
      },
    ],
    [
      "the poller doesn't clear the slot",
      "owned-slots",
      {
        poller: (words) => mutantWords(words, { store: (i, v) => (isOwnedSlot(i) && v === 0 ? undefined : words.store(i, v)) }),
        producers: [[1, 2], [3], [4, 5, 6, 7], [8]],
      },
    ],
  ];

  it.each(mutants)("%s (%s)", (_name, queue, options) => {
    expectCaught([model(queue, options)], /torn|lost|twice|stuck|never posted/);
  });
});
