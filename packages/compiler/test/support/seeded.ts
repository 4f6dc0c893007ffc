/** A seeded generator (SplitMix32), so that a seed names a program on every machine. */
export class Seeded {
  constructor(private state: number) {}

  /** A whole number from 0 to below `limit`. */
  below(limit: number): number {
    this.state = (this.state + 0x9e37_79b9) | 0;
    let z = this.state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0_aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a_2d97);
    return Math.floor((((z ^ (z >>> 15)) >>> 0) / 2 ** 32) * limit);
  }

  chance(of: number): boolean {
    return this.below(1000) < 1000 * of;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  shuffled<T>(list: readonly T[]): T[] {
    const left = [...list];
    return list.map(() => left.splice(this.below(left.length), 1)[0] as T);
  }
}
