/** Times from submission to completion, in milliseconds: a sample of bounded size, with every run equally likely to be in. */
export class Latencies {
  private readonly sample: number[] = [];
  private seen = 0;

  constructor(private readonly capacity = 100_000) {}

  add(milliseconds: number): void {
    this.seen += 1;
    if (this.sample.length < this.capacity) {
      this.sample.push(milliseconds);
      return;
    }
    const place = Math.floor(Math.random() * this.seen);
    if (place < this.capacity) this.sample[place] = milliseconds;
  }

  /** @param share - 0.5 is the median. @returns milliseconds; NaN without runs. */
  percentile(share: number): number {
    const sorted = Float64Array.from(this.sample).sort();
    return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  }
}
