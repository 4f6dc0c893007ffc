/** Wake-ups by time; those of one time in the order in which they were added. A binary heap over flat arrays. */
export class EventQueue {
  #times = new Float64Array(64);
  #orders = new Float64Array(64);
  #ranks = new Int32Array(64);
  #length = 0;
  #added = 0;

  get length(): number {
    return this.#length;
  }

  /** Of the earliest one; Infinity where there is none. */
  get nextTime(): number {
    return this.#length === 0 ? Number.POSITIVE_INFINITY : (this.#times[0] ?? 0);
  }

  add(time: number, rank: number): void {
    if (this.#length === this.#times.length) this.#grow();
    let at = this.#length++;
    // It was added last, so it goes before another only if its time does.
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if ((this.#times[parent] ?? 0) <= time) break;
      this.#copy(parent, at);
      at = parent;
    }
    this.#times[at] = time;
    this.#orders[at] = this.#added++;
    this.#ranks[at] = rank;
  }

  /** Takes the earliest one out. @returns its rank, undefined where there is none. */
  take(): number | undefined {
    if (this.#length === 0) return undefined;
    const rank = this.#ranks[0];
    this.#length -= 1;
    const last = this.#length;
    let at = 0;
    for (let child = 1; child < last; child = 2 * at + 1) {
      if (child + 1 < last && this.#isBefore(child + 1, child)) child += 1;
      if (!this.#isBefore(child, last)) break;
      this.#copy(child, at);
      at = child;
    }
    this.#copy(last, at);
    return rank;
  }

  #isBefore(a: number, b: number): boolean {
    const [timeA = 0, timeB = 0] = [this.#times[a], this.#times[b]];
    return timeA < timeB || (timeA === timeB && (this.#orders[a] ?? 0) < (this.#orders[b] ?? 0));
  }

  #copy(from: number, to: number): void {
    this.#times[to] = this.#times[from] ?? 0;
    this.#orders[to] = this.#orders[from] ?? 0;
    this.#ranks[to] = this.#ranks[from] ?? 0;
  }

  #grow(): void {
    const [times, orders, ranks] = [this.#times, this.#orders, this.#ranks];
    this.#times = new Float64Array(2 * times.length);
    this.#orders = new Float64Array(2 * times.length);
    this.#ranks = new Int32Array(2 * times.length);
    this.#times.set(times);
    this.#orders.set(orders);
    this.#ranks.set(ranks);
  }
}
