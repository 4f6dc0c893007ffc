/**
 * A graph without circles in which pairs of neighbours are merged as long as no circle arises. Keeps an order in which
 * everyone comes after all that it waits for, so that a merge looks only at what stands between the two.
 */
export class Contraction {
  private readonly waits: Set<number>[];
  private readonly waiters: Set<number>[];
  private readonly position: Int32Array;
  private readonly nodeAt: Int32Array;

  /** @param waits - `waits[i]`: whom i waits for, all of smaller numbers. */
  constructor(waits: readonly (readonly number[])[]) {
    this.waits = waits.map((list) => new Set(list));
    this.waiters = waits.map(() => new Set<number>());
    waits.forEach((list, waiter) => {
      for (const awaited of list) this.waiters[awaited]?.add(waiter);
    });
    this.position = Int32Array.from(waits, (_, node) => node);
    this.nodeAt = this.position.slice();
  }

  /**
   * Makes one node of two, under the number of the first.
   * @returns false, with nothing changed, if a third has to run between them.
   */
  merge(first: number, second: number): boolean {
    const between = this.reachableBefore(first, second);
    if (between === undefined) return false;
    this.moveBehind(first, second, between);
    for (const awaited of this.waits[second] ?? []) {
      this.waiters[awaited]?.delete(second);
      if (awaited !== first) this.link(awaited, first);
    }
    for (const waiter of this.waiters[second] ?? []) {
      this.waits[waiter]?.delete(second);
      this.link(first, waiter);
    }
    this.waits[second]?.clear();
    this.waiters[second]?.clear();
    return true;
  }

  private link(awaited: number, waiter: number): void {
    this.waits[waiter]?.add(awaited);
    this.waiters[awaited]?.add(waiter);
  }

  /** What must come after `first` and stands before `second`; undefined if `second` waits for some of it. */
  private reachableBefore(first: number, second: number): Set<number> | undefined {
    const end = this.position[second] ?? 0;
    const found = new Set<number>();
    const open = [first];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      for (const waiter of this.waiters[node] ?? []) {
        if (waiter === second) {
          if (node !== first) return undefined;
        } else if (!found.has(waiter) && (this.position[waiter] ?? 0) < end) {
          found.add(waiter);
          open.push(waiter);
        }
      }
    }
    return found;
  }

  /** The merged node stands where `second` stood; what must come after it goes behind. */
  private moveBehind(first: number, second: number, after: ReadonlySet<number>): void {
    const begin = this.position[first] ?? 0;
    const end = this.position[second] ?? 0;
    if (after.size === 0) {
      this.nodeAt[begin] = -1;
      this.nodeAt[end] = first;
      this.position[first] = end;
      return;
    }
    const window = [...this.nodeAt.subarray(begin, end + 1)].filter((node) => node >= 0 && node !== first && node !== second);
    const order = [...window.filter((node) => !after.has(node)), first, ...window.filter((node) => after.has(node))];
    this.nodeAt.fill(-1, begin, end + 1);
    order.forEach((node, index) => {
      const at = end + 1 - order.length + index;
      this.nodeAt[at] = node;
      this.position[node] = at;
    });
  }
}
