import { allWaits, type Instruction, type InstructionGraph, type ResultUse, reversed } from "./instruction-graph.js";

/**
 * Works on a copy of a graph: replaces instructions, and lets one take the place of an earlier one that only it, and
 * those that come after it, wait for. That never makes a circle, and numbers stay in an order in which everyone comes after all that it waits for.
 */
export class GraphEditor {
  private readonly instructions: (Instruction | undefined)[];
  private readonly before: Set<number>[];
  private readonly uses: ResultUse[];
  private readonly waiters: readonly (readonly number[])[];
  private readonly movedTo = new Map<number, number>();

  constructor(private readonly graph: InstructionGraph) {
    this.instructions = [...graph.instructions];
    this.before = graph.before.map((set) => new Set(set));
    this.uses = graph.uses.map((use) => ({ ...use, readers: new Set(use.readers) }));
    this.waiters = reversed(allWaits(graph));
  }

  get(id: number): Instruction | undefined {
    return this.instructions[id];
  }

  use(id: number): ResultUse | undefined {
    return this.uses[id];
  }

  /** Whether only `later`, and those that wait for it anyway, wait for `earlier`, and only it reads what that made. */
  isOnlyStepTo(earlier: number, later: number): boolean {
    const use = this.uses[earlier];
    const waits = (this.waiters[earlier] ?? []).map((id) => this.movedTo.get(id) ?? id);
    const isAfterLater = waits.every((id) => id === later || this.awaits(id, later));
    return use !== undefined && !use.isFinal && isAfterLater && [...use.readers].every((id) => this.now(id) === later);
  }

  /** `merged` stands for both, under the number of the later one. */
  take(earlier: number, merged: Instruction): void {
    const later = merged.id;
    this.instructions[earlier] = undefined;
    this.instructions[later] = merged;
    this.movedTo.set(earlier, later);
    const waits = this.before[later];
    for (const awaited of this.before[earlier] ?? []) waits?.add(awaited);
    for (const waiter of this.waiters[earlier] ?? []) this.before[this.now(waiter)]?.delete(earlier);
    this.before[earlier]?.clear();
    for (const awaited of waits ?? []) {
      const readers = this.uses[awaited]?.readers;
      if (readers?.delete(earlier)) readers.add(later);
    }
  }

  finish(): InstructionGraph {
    return { ...this.graph, instructions: this.instructions, before: this.before, uses: this.uses };
  }

  /** Whether one waits for another of its rank, be it through others. */
  private awaits(id: number, other: number): boolean {
    const seen = new Set<number>();
    const open = [id];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const awaited of this.before[next] ?? []) {
        if (awaited === other) return true;
        // Numbers are in an order in which everyone comes after all that it waits for.
        if (awaited < other || seen.has(awaited)) continue;
        seen.add(awaited);
        open.push(awaited);
      }
    }
    return false;
  }

  private now(id: number): number {
    return this.movedTo.get(id) ?? id;
  }
}
