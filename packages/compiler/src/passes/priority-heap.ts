/** A binary heap: `take` gives the item that comes first. */
export class PriorityHeap {
  private readonly items: number[] = [];

  /** @param isBefore - a strict order of all items. */
  constructor(private readonly isBefore: (a: number, b: number) => boolean) {}

  add(item: number): void {
    const { items } = this;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent] ?? item;
      if (!this.isBefore(item, above)) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  take(): number | undefined {
    const { items } = this;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || last === undefined || items.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      let below = items[child];
      if (below === undefined) break;
      const right = items[child + 1];
      if (right !== undefined && this.isBefore(right, below)) {
        child += 1;
        below = right;
      }
      if (!this.isBefore(below, last)) break;
      items[at] = below;
      at = child;
    }
    items[at] = last;
    return first;
  }
}
