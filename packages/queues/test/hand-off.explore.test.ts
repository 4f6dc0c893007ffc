import { describe, it } from "vitest";
import { BlockHolder, BlockPool } from "../src/block-pool.js";
import { FlipFlop, flipFlopBytes } from "../src/flip-flop.js";
import { waveLayout, wordAt } from "../src/layout.js";
import type { SharedWords } from "../src/shared-words.js";
import { WaveCaller, WaveWorker, waveBytes } from "../src/wave.js";
import { PaddedWaveCaller, PaddedWaveWorker, paddedWaveBytes } from "../src/wave-padded.js";
import { expectCaught, expectHolds } from "./support/expectations.js";
import type { Ending, Model, Participant } from "./support/explorer.js";
import { delayStores, mutantWords, withoutAtomicity } from "./support/mutant-words.js";

type Mutation = (words: SharedWords) => SharedWords;
const asIs: Mutation = (words) => words;

function checkNotStuck(ending: Ending): void {
  if (ending.ends.includes("stuck") && !ending.ends.some((end) => end === "killed" || end === "gave up")) throw new Error("stuck");
}

describe("flip-flop, every interleaving", () => {
  // A value names a plain word after the flip-flop, which its worker fills first.
  const data = flipFlopBytes / 4;
  const values = [
    [1, 2],
    [3, 4],
  ];

  function model(options: { worker?: Mutation; trainer?: (flipFlop: FlipFlop, words: SharedWords) => number; kills?: number } = {}): Model {
    const workers = values.map(
      (mine, index): Participant => ({
        name: `worker ${index}`,
        isKillable: true,
        prepare(words) {
          const mutated = (options.worker ?? asIs)(words);
          const flipFlop = new FlipFlop(mutated);
          return (io) => {
            for (const value of mine) {
              mutated.plainStore(data + value, value * 100);
              io.until(() => flipFlop.tryAdd(value));
            }
          };
        },
      }),
    );
    const trainer: Participant = {
      name: "trainer",
      isKillable: true,
      prepare(words) {
        const flipFlop = new FlipFlop(words);
        const get = options.trainer ?? ((from: FlipFlop) => from.tryGet());
        return (io) => {
          for (const _ of values.flat()) {
            const value = io.until(() => get(flipFlop, words) || undefined);
            if (words.plainLoad(data + value) !== value * 100) throw new Error(`value ${value} came before its data`);
            io.emit(value);
          }
        };
      },
    };
    return {
      wordCount: data + 5,
      setUp: () => undefined,
      participants: [...workers, trainer],
      check(ending) {
        const got = ending.outputs[2] ?? [];
        if (new Set(got).size !== got.length) throw new Error(`taken twice: ${got}`);
        if (ending.isComplete && got.length !== 4) throw new Error(`lost: ${got}`);
        checkNotStuck(ending);
      },
      kills: options.kills ?? 0,
    };
  }

  it("hands every value over once, after its data", () => expectHolds(model()));

  it("loses and repeats nothing when any one participant stops anywhere", () => expectHolds(model({ kills: 1 })));

  it("mutant: workers look, then store", () => {
    expectCaught([model({ worker: (words) => mutantWords(words, withoutAtomicity(words)) })], /lost|stuck/);
  });

  it("mutant: the value is visible before its data, as the flawed form's missing barrier allows", () => {
    const worker: Mutation = (words) => {
      const late: (() => void)[] = [];
      return mutantWords(words, {
        plainStore: (i, v) => {
          late.push(() => words.plainStore(i, v));
        },
        compareExchange64(i, e, r) {
          const old = words.compareExchange64(i, e, r);
          for (const store of late.splice(0)) store();
          return old;
        },
      });
    };
    expectCaught([model({ worker })], /before its data/);
  });

  it("mutant: the trainer's look is hoisted out of its loop, as a plain read may be", () => {
    const seen = new WeakMap<FlipFlop, bigint>();
    const trainer = (flipFlop: FlipFlop, words: SharedWords) => {
      const value = seen.get(flipFlop) ?? words.load64(0);
      seen.set(flipFlop, value);
      if (value === 0n) return 0;
      return words.compareExchange64(0, value, 0n) === value ? Number(value) : 0;
    };
    expectCaught([model({ trainer })], /stuck|twice/);
  });

  it("mutant: the trainer empties it with a load and a store after a second look", () => {
    const trainer = (_flipFlop: FlipFlop, words: SharedWords) => {
      const value = words.load64(0);
      words.store64(0, 0n);
      return Number(value);
    };
    expectCaught([model({ trainer })], /lost|stuck/);
  });
});

describe("block pool, every interleaving", () => {
  // Words: flip-flop, one status word, the block itself.
  const status = flipFlopBytes / 4;
  const block = status + 1;
  const rounds = [1, 2, 3];

  function model(trainerMutation: Mutation = asIs): Model {
    const at = (words: SharedWords): SharedWords =>
      mutantWords(words, { load: (i) => words.load(status + i), store: (i, v) => words.store(status + i, v) });
    const worker: Participant = {
      name: "worker",
      prepare(words) {
        const pool = new BlockPool(at(words), 1);
        const flipFlop = new FlipFlop(words);
        return (io) => {
          for (const round of rounds) {
            io.until(() => (pool.tryAcquire() === undefined ? undefined : true));
            words.plainStore(block, round * 100);
            io.until(() => flipFlop.tryAdd(round));
          }
        };
      },
    };
    const trainer: Participant = {
      name: "trainer",
      prepare(words) {
        const mutated = trainerMutation(words);
        const holder = new BlockHolder(at(mutated));
        const flipFlop = new FlipFlop(words);
        return (io) => {
          for (const round of rounds) {
            io.until(() => flipFlop.tryGet() || undefined);
            holder.hold(0);
            const value = mutated.plainLoad(block);
            if (value !== round * 100) throw new Error(`block holds ${value} in round ${round}`);
            holder.release();
          }
        };
      },
    };
    return { wordCount: block + 1, setUp: () => undefined, participants: [worker, trainer], check: checkNotStuck };
  }

  it("never gives a block out while the trainer reads it", () => expectHolds(model()));

  it("mutant: freeing stores 1, as the slides' text says", () => {
    expectCaught([model((words) => mutantWords(words, { store: (i, v) => words.store(i, i === status ? 1 : v) }))], /stuck/);
  });

  it("mutant: the trainer frees the block before its last read", () => {
    const trainer: Mutation = (words) =>
      mutantWords(words, {
        plainLoad(i) {
          if (i === block) words.store(status, 0);
          return words.plainLoad(i);
        },
      });
    expectCaught([model(trainer)], /block holds/);
  });
});

describe("wave, every interleaving", () => {
  const workerCount = 2;
  const rounds = [1, 2, 3];

  interface Wave {
    readonly bytes: number;
    caller(words: SharedWords): { start(): void; isCollected(): boolean };
    worker(words: SharedWords, index: number): { isStarted(): boolean; finish(): void };
  }
  const counted: Wave = {
    bytes: waveBytes,
    caller: (words) => new WaveCaller(words, workerCount),
    worker: (words) => new WaveWorker(words),
  };
  const padded: Wave = {
    bytes: paddedWaveBytes(workerCount),
    caller: (words) => new PaddedWaveCaller(words, workerCount),
    worker: (words, index) => new PaddedWaveWorker(words, index),
  };

  function model(wave: Wave, mutate: { caller?: Mutation; worker?: Mutation } = {}): Model {
    const input = wave.bytes / 4;
    const workers = Array.from(
      { length: workerCount },
      (_, index): Participant => ({
        name: `worker ${index}`,
        prepare(words) {
          const role = wave.worker((mutate.worker ?? asIs)(words), index);
          return (io) => {
            for (const _ of rounds) {
              io.until(() => role.isStarted());
              words.plainStore(input + 1 + index, words.plainLoad(input) + index);
              role.finish();
            }
          };
        },
      }),
    );
    const caller: Participant = {
      name: "caller",
      prepare(words) {
        const mutated = (mutate.caller ?? asIs)(words);
        const role = wave.caller(mutated);
        return (io) => {
          for (const round of rounds) {
            mutated.plainStore(input, round * 10);
            role.start();
            io.until(() => role.isCollected());
            for (let w = 0; w < workerCount; w++) {
              const got = words.plainLoad(input + 1 + w);
              if (got !== round * 10 + w) throw new Error(`round ${round}: worker ${w} gave ${got}`);
            }
          }
        };
      },
    };
    return {
      wordCount: input + 1 + workerCount,
      setUp: () => undefined,
      participants: [...workers, caller],
      check: checkNotStuck,
      attempts: 4,
    };
  }

  it.each([
    ["one counter", counted],
    ["padded words", padded],
  ])("%s: collects every round whole", (_name, wave) => expectHolds(model(wave)));

  const control = wordAt(waveLayout.control);
  const counter = wordAt(waveLayout.counter);
  const mutants: readonly (readonly [string, { caller?: Mutation; worker?: Mutation }])[] = [
    [
      "the counter is never reset, as in the slides' code",
      { caller: (words) => mutantWords(words, { store: (i, v) => (i === counter ? undefined : words.store(i, v)) }) },
    ],
    [
      "workers add to the control word, as in the slides' code",
      { worker: (words) => mutantWords(words, { add: (i, v) => words.add(i === counter ? control : i, v) }) },
    ],
    ["workers count with a load and a store", { worker: (words) => mutantWords(words, withoutAtomicity(words)) }],
    [
      "the round starts before the counter is reset",
      {
        caller: (words) =>
          mutantWords(
            words,
            delayStores(
              words,
              (i) => i === counter,
              (i) => i === control,
            ),
          ),
      },
    ],
    [
      "the round starts before its input is there",
      {
        caller: (words) =>
          mutantWords(
            words,
            delayStores(
              words,
              (i) => i === waveBytes / 4,
              (i) => i === control,
            ),
          ),
      },
    ],
  ];
  it.each(mutants)("mutant: %s", (_name, mutate) => expectCaught([model(counted, mutate)], /round|stuck/));
});
