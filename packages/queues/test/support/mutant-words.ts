import type { SharedWords } from "../../src/shared-words.js";

/**
 * `words` with some of its methods replaced: a mutant of whatever algorithm runs on it, without a second copy of that
 * algorithm. The replacement may call the original on `words` as often as it likes, also for other accesses.
 */
export function mutantWords(words: SharedWords, replace: Partial<SharedWords>): SharedWords {
  return {
    byteLength: words.byteLength,
    load: (index) => words.load(index),
    store: (index, value) => words.store(index, value),
    add: (index, value) => words.add(index, value),
    compareExchange: (index, expected, replacement) => words.compareExchange(index, expected, replacement),
    load64: (index) => words.load64(index),
    store64: (index, value) => words.store64(index, value),
    exchange64: (index, value) => words.exchange64(index, value),
    compareExchange64: (index, expected, replacement) => words.compareExchange64(index, expected, replacement),
    plainLoad: (index) => words.plainLoad(index),
    plainStore: (index, value) => words.plainStore(index, value),
    ...replace,
  };
}

/** Read-modify-writes taken apart into a load and a store. */
export function withoutAtomicity(words: SharedWords): Partial<SharedWords> {
  return {
    add(index, value) {
      const old = words.load(index);
      words.store(index, (old + value) | 0);
      return old;
    },
    compareExchange(index, expected, replacement) {
      const old = words.load(index);
      if (old === expected) words.store(index, replacement);
      return old;
    },
    exchange64(index, value) {
      const old = words.load64(index);
      words.store64(index, value);
      return old;
    },
    compareExchange64(index, expected, replacement) {
      const old = words.load64(index);
      if (old === expected) words.store64(index, replacement);
      return old;
    },
  };
}

/** Holds the stores to some words back until after the next store to `until`. */
export function delayStores(
  words: SharedWords,
  isDelayed: (index: number) => boolean,
  until: (index: number) => boolean,
): Partial<SharedWords> {
  let delayed: [number, number][] = [];
  const store = (index: number, value: number, pass: () => void) => {
    if (isDelayed(index)) {
      delayed.push([index, value]);
      return;
    }
    pass();
    if (!until(index)) return;
    for (const [late, lateValue] of delayed) words.plainStore(late, lateValue);
    delayed = [];
  };
  return {
    store: (index, value) => store(index, value, () => words.store(index, value)),
    plainStore: (index, value) => store(index, value, () => words.plainStore(index, value)),
  };
}
