import type { SharedWords } from "../../src/shared-words.js";

/** An access that a participant is about to make. */
export interface Access {
  /** The words that it touches. */
  readonly indexes: readonly number[];
  /** Changes `memory` and gives the result. */
  perform(memory: Int32Array): number | bigint;
  text(result: number | bigint): string;
  /** Set for a sleep: it ends when one of these words no longer has this value. */
  readonly awaits?: ReadonlyMap<number, number>;
}

interface LogEntry {
  readonly result: number | bigint;
  readonly touched: readonly { readonly index: number; readonly before: number; readonly after: number }[];
}

/** Makes an access and gives what is to be remembered of it. */
export function performAccess(access: Access, memory: Int32Array): LogEntry {
  const before = access.indexes.map((index) => memory[index] ?? 0);
  const result = access.perform(memory);
  const touched = access.indexes.map((index, i) => ({ index, before: before[i] ?? 0, after: memory[index] ?? 0 }));
  return { result, touched };
}

/** What a participant has done so far: enough to run it again to the same point. */
export type AccessLog = readonly LogEntry[];

/** Thrown out of a participant when it comes to an access that it has not made yet. Not an Error: no stack is wanted. */
export class Pending {
  constructor(readonly access: Access) {}
}

/** The two halves of a result, for hashing. */
export function accessWords(value: number | bigint): readonly number[] {
  return typeof value === "number" ? [value | 0] : [Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n))];
}

/** Shared memory as one participant sees it while it is run again: past accesses give what they gave, the next one throws. */
export class ReplayedWords implements SharedWords {
  readonly #past: AccessLog;
  readonly #new: LogEntry[] = [];
  readonly #memory: Int32Array;
  readonly byteLength: number;
  cursor = 0;
  /** While true, new accesses are made at once: nobody else is running yet. */
  isEager: boolean;

  constructor(log: AccessLog, memory: Int32Array, isEager: boolean) {
    this.#past = log;
    this.#memory = memory;
    this.byteLength = memory.byteLength;
    this.isEager = isEager;
  }

  /** Everything that has been done by now. */
  get log(): AccessLog {
    return this.#new.length === 0 ? this.#past : [...this.#past, ...this.#new];
  }

  load(index: number): number {
    return this.#access32("load", index, undefined);
  }
  plainLoad(index: number): number {
    return this.#access32("plainLoad", index, undefined);
  }
  store(index: number, value: number): void {
    this.#access32("store", index, () => value);
  }
  plainStore(index: number, value: number): void {
    this.#access32("plainStore", index, () => value);
  }
  add(index: number, value: number): number {
    return this.#access32("add", index, (old) => (old + value) | 0);
  }
  compareExchange(index: number, expected: number, replacement: number): number {
    return this.#access32("compareExchange", index, (old) => (old === (expected | 0) ? replacement : old));
  }
  load64(index: number): bigint {
    return this.#access64("load64", index, undefined);
  }
  store64(index: number, value: bigint): void {
    this.#access64("store64", index, () => value);
  }
  exchange64(index: number, value: bigint): bigint {
    return this.#access64("exchange64", index, () => value);
  }
  compareExchange64(index: number, expected: bigint, replacement: bigint): bigint {
    return this.#access64("compareExchange64", index, (old) => (old === expected ? replacement : old));
  }

  /** Sleeps until a word that was touched since log position `from` has changed; not at all if one did in the meantime. */
  awaitChangeSince(from: number): void {
    const awaits = new Map<number, number>();
    for (const entry of this.log.slice(from, this.cursor)) {
      for (const { index, before, after } of entry.touched) {
        if ((awaits.get(index) ?? before) !== before) return;
        awaits.set(index, after);
      }
    }
    this.#next({ indexes: [], perform: () => 0, text: () => "wakes up", awaits });
  }

  #access32(name: string, index: number, update: ((old: number) => number) | undefined): number {
    return Number(
      this.#next({
        indexes: [index],
        perform: (memory) => {
          const old = memory[index] ?? 0;
          if (update !== undefined) memory[index] = update(old);
          return old;
        },
        text: (result) => `${name}(${index})${update === undefined ? ` = ${result}` : `: ${result} -> ${update(Number(result))}`}`,
      }),
    );
  }

  #access64(name: string, index: number, update: ((old: bigint) => bigint) | undefined): bigint {
    return BigInt(
      this.#next({
        indexes: [index, index + 1],
        perform: (memory) => {
          const old = (BigInt((memory[index + 1] ?? 0) >>> 0) << 32n) | BigInt((memory[index] ?? 0) >>> 0);
          if (update !== undefined) [memory[index], memory[index + 1]] = accessWords(update(old)) as [number, number];
          return old;
        },
        text: (result) => `${name}(${index})${update === undefined ? ` = ${result}` : `: ${result} -> ${update(BigInt(result))}`}`,
      }),
    );
  }

  #next(access: Access): number | bigint {
    const past = this.#past[this.cursor];
    if (past !== undefined) {
      this.cursor++;
      return past.result;
    }
    if (!this.isEager) throw new Pending(access);
    const entry = performAccess(access, this.#memory);
    this.#new.push(entry);
    this.cursor++;
    return entry.result;
  }
}
