/** A seeded generator (SplitMix32): the same seed gives the same orders on every machine. */
export class Random {
  private state: number;

  constructor(...seeds: readonly number[]) {
    this.state = 0x9e37_79b9;
    for (const seed of seeds) {
      this.state = (this.state ^ seed) | 0;
      this.next32();
    }
  }

  /** A whole number from 0 to 2^32 − 1. */
  next32(): number {
    this.state = (this.state + 0x9e37_79b9) | 0;
    let z = this.state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0_aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a_2d97);
    return (z ^ (z >>> 15)) >>> 0;
  }

  /** A number from 0 to below 1. */
  fraction(): number {
    return this.next32() / 2 ** 32;
  }

  /** A whole number from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  shuffle<T>(list: T[]): T[] {
    for (let i = list.length - 1; i > 0; i -= 1) {
      const j = this.below(i + 1);
      const [a, b] = [list[i] as T, list[j] as T];
      list[i] = b;
      list[j] = a;
    }
    return list;
  }
}
