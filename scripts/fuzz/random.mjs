// What a fuzzer draws: the same seed draws the same, on any machine.
import { CallersOwn } from "./judge.mjs";

const awkward = [
  0,
  -0,
  1,
  -1,
  2,
  3,
  7,
  8,
  16,
  255,
  256,
  1024,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -(2 ** 31),
  0.5,
  1e-300,
  1e300,
];
const words = [
  "",
  "x",
  "null",
  "__proto__",
  "constructor",
  "toString",
  "all-reduce",
  "float32",
  "sum",
  "ring",
  "S0",
  "B",
  "P",
  "4",
  "1e9",
  "-1",
  "NaN",
];
const characters = [
  "a",
  "Z",
  "0",
  "-",
  "=",
  ",",
  ".",
  ":",
  " ",
  "\n",
  "\t",
  '"',
  "'",
  "<",
  ">",
  "&",
  "{",
  "}",
  "[",
  "]",
  "%",
  "\\",
  "ü",
  "\u2028",
  "\ud800",
  "😀",
];

/** mulberry32, of its own: a fuzzer that draws from what it tests would change with it. */
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  bits() {
    this.#state = (this.#state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** A whole number from 0 to limit - 1. */
  below(limit) {
    return Math.floor((this.bits() / 2 ** 32) * limit);
  }

  chance(share) {
    return this.bits() / 2 ** 32 < share;
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  list(most, make) {
    return Array.from({ length: this.below(most + 1) }, make);
  }

  number() {
    if (this.chance(0.1)) return this.pick([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]);
    return this.chance(0.5) ? this.pick(awkward) : this.below(10);
  }

  text() {
    if (this.chance(0.5)) return this.pick(words);
    return this.list(this.chance(0.05) ? 5_000 : 12, () => this.pick(characters)).join("");
  }

  /** What JSON can say. */
  json(depth = 0) {
    const kind = this.below(depth > 3 ? 4 : 6);
    if (kind === 0) return this.pick([null, true, false]);
    if (kind === 1) return this.text();
    if (kind < 4) return this.number();
    if (kind === 4) return this.list(4, () => this.json(depth + 1));
    return Object.fromEntries(this.list(4, () => [this.text(), this.json(depth + 1)]));
  }

  /** What a caller in JavaScript may pass. */
  value() {
    if (this.chance(0.6)) return this.json();
    return this.pick([
      undefined,
      1n,
      -(2n ** 70n),
      Symbol("fuzz"),
      () => {},
      async () => {},
      new Float32Array(4),
      new Uint8Array(new SharedArrayBuffer(8)),
      new ArrayBuffer(8),
      new Map(),
      new Date(Number.NaN),
      Object.create(null),
      AbortSignal.abort(),
      new Proxy({}, { get: thrown, ownKeys: thrown, has: thrown }),
    ]);
  }

  /** The same tree with something else in a place or two. */
  mutated(tree, make = () => this.value()) {
    let result = tree;
    for (let changes = 1 + this.below(2); changes > 0; changes -= 1) result = this.#changed(result, make);
    return result;
  }

  #changed(tree, make) {
    const isList = Array.isArray(tree);
    const keys = keysOf(tree);
    if (keys.length === 0 || this.chance(0.1)) return make();
    const key = this.pick(keys);
    const copy = isList ? [...tree] : { ...tree };
    const what = this.below(10);
    if (what === 0 && isList) copy.splice(Number(key), 1);
    else if (what === 0) delete copy[key];
    else if (what === 1 && isList) copy.push(copy[key]);
    else if (what === 1) copy[this.text()] = make();
    else copy[key] = this.#changed(tree[key], make);
    return copy;
  }

  /** The same bytes, some of them changed, left out or doubled. */
  mutatedBytes(bytes) {
    let result = Uint8Array.from(bytes);
    for (let changes = 1 + this.below(4); changes > 0; changes -= 1) {
      const [at, what] = [this.below(result.length + 1), this.below(5)];
      if (what === 0) result = result.slice(0, at);
      else if (what === 1) result = Uint8Array.from([...result.slice(0, at), ...this.list(8, () => this.below(256)), ...result.slice(at)]);
      else if (what === 2) result[at] ^= 1 << this.below(8);
      else if (what === 3) result.fill(this.pick([0, 255]), at, at + 1 + this.below(8));
      else if (at + 4 <= result.length) new DataView(result.buffer).setInt32(at, this.pick(awkward) | 0, true);
    }
    return result;
  }

  mutatedText(text) {
    let result = text;
    for (let changes = 1 + this.below(4); changes > 0; changes -= 1) {
      const [from, length] = [this.below(result.length + 1), this.below(12)];
      const inserted = this.pick(["", this.text(), String(this.number()), result.slice(from, from + length).repeat(2)]);
      result = result.slice(0, from) + inserted + result.slice(from + length);
    }
    return result;
  }
}

/** Of lists and plain objects; none of what throws when it is looked at. */
function keysOf(tree) {
  try {
    if (Array.isArray(tree)) return Object.keys(tree);
    return tree !== null && typeof tree === "object" && Object.getPrototypeOf(tree) === Object.prototype ? Object.keys(tree) : [];
  } catch {
    return [];
  }
}

function thrown() {
  throw new CallersOwn("thrown by a proxy");
}
