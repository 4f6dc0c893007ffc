import { checkNumber } from "./check-number.js";

/** Small seeded generator (mulberry32): the same seed gives the same schedule anywhere. Not for secrets. */
export class SeededRandom {
  private state: number;

  constructor(seed: number) {
    checkNumber("seed", seed);
    this.state = seed >>> 0;
  }

  /** 32 random bits, unsigned. */
  next(): number {
    this.state = (this.state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** Whole number from 0 to `limit` - 1. @throws {InvalidArgumentError} */
  below(limit: number): number {
    checkNumber("limit", limit);
    return Math.floor((this.next() / 0x1_0000_0000) * limit);
  }
}
