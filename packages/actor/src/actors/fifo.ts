const leastGone = 64;

/** First in, first out, each in constant time on average: `Array.shift()` moves all that is left, which long arrays pay for. */
export class Fifo<T> {
  private items: (T | undefined)[] = [];
  private head = 0;

  get length(): number {
    return this.items.length - this.head;
  }

  /** What shift() would return, left where it is. */
  get first(): T | undefined {
    return this.items[this.head];
  }

  push(item: T): void {
    this.items.push(item);
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.items[this.head];
    this.items[this.head] = undefined;
    this.head += 1;
    if (this.length === 0) {
      this.items.length = 0;
      this.head = 0;
    } else if (this.head >= leastGone && 2 * this.head >= this.items.length) {
      // Half of it at least is gone, so that each entry is moved once on average.
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }
}
