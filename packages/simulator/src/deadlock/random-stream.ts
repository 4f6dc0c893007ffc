/**
 * Random numbers for one part of one round, from (seed, round, part) alone: whoever simulates a round, in whatever order,
 * draws the same. The key is hashed (murmur3's finalizer) into the state of sfc32, a small generator of good quality.
 */
export class RandomStream {
  #a = 0;
  #b = 0;
  #c = 0;
  #counter = 1;

  /** Starts the stream of this key. All are 32-bit whole numbers. */
  seed(seed: number, round: number, part: number): this {
    this.#a = mix(seed ^ 0x9e37_79b9);
    this.#b = mix(round ^ this.#a);
    this.#c = mix(part ^ this.#b);
    this.#counter = 1;
    // The first outputs still show the key.
    for (let i = 0; i < 12; i += 1) this.#next();
    return this;
  }

  /** Uniform in (0, 1], with 53 bits: its logarithm is finite. */
  uniform(): number {
    const high = this.#next() >>> 5;
    const low = this.#next() >>> 6;
    return (high * 0x400_0000 + low + 1) / 0x20_0000_0000_0000;
  }

  /** Failures before the first success of independent trials, by inversion; Infinity where success is impossible. */
  failuresBefore(logOfFailure: number): number {
    return logOfFailure === 0 ? Number.POSITIVE_INFINITY : Math.floor(Math.log(this.uniform()) / logOfFailure);
  }

  /** Whole number from 0 to `limit` - 1. */
  below(limit: number): number {
    return Math.min(Math.floor(this.uniform() * limit), limit - 1);
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum;
  }
}

function mix(value: number): number {
  let mixed = value | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return mixed ^ (mixed >>> 16);
}
