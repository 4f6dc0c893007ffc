/** Wake-ups by time; those of one time in the order in which they were added. A binary heap over flat arrays. */
export class EventQueue {
  #times: number[] = [];
  #orders: number[] = [];
  #ranks: number[] = [];
  #added = 0;

  get length(): number {
    return this.#times.length;
  }

  add(time: number, rank: number): void {
    this.#times.push(time);
    this.#orders.push(this.#added++);
    this.#ranks.push(rank);
    let at = this.#times.length - 1;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (!this.#isBefore(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  /** The earliest one, taken out. */
  take(): { readonly time: number; readonly rank: number } | undefined {
    const [time, rank] = [this.#times[0], this.#ranks[0]];
    if (time === undefined || rank === undefined) return undefined;
    this.#swap(0, this.#times.length - 1);
    this.#times.pop();
    this.#orders.pop();
    this.#ranks.pop();
    for (let at = 0; ; ) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < this.#times.length && this.#isBefore(child, least)) least = child;
      if (least === at) break;
      this.#swap(at, least);
      at = least;
    }
    return { time, rank };
  }

  #isBefore(a: number, b: number): boolean {
    const [timeA = 0, timeB = 0] = [this.#times[a], this.#times[b]];
    return timeA < timeB || (timeA === timeB && (this.#orders[a] ?? 0) < (this.#orders[b] ?? 0));
  }

  #swap(a: number, b: number): void {
    for (const values of [this.#times, this.#orders, this.#ranks]) {
      const [first = 0, second = 0] = [values[a], values[b]];
      values[a] = second;
      values[b] = first;
    }
  }
}
