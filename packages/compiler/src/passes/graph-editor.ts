import { allWaits, type Instruction, type InstructionGraph, type ResultUse, reversed } from "./instruction-graph.js";

/**
 * Works on a copy of a graph: replaces instructions, and lets one take the place of an earlier one that nothing but it waits
 * for. That never makes a circle, and numbers stay in an order in which everyone comes after all that it waits for.
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

  /** Whether only `later` waits for `earlier`, and only it reads what that made. */
  isOnlyStepTo(earlier: number, later: number): boolean {
    const use = this.uses[earlier];
    const waits = (this.waiters[earlier] ?? []).map((id) => this.movedTo.get(id) ?? id);
    return use !== undefined && !use.isFinal && waits.every((id) => id === later) && [...use.readers].every((id) => this.now(id) === later);
  }

  /** `merged` stands for both, under the number of the later one. */
  take(earlier: number, merged: Instruction): void {
    const later = merged.id;
    this.instructions[earlier] = undefined;
    this.instructions[later] = merged;
    this.movedTo.set(earlier, later);
    const waits = this.before[later];
    for (const awaited of this.before[earlier] ?? []) waits?.add(awaited);
    waits?.delete(earlier);
    this.before[earlier]?.clear();
    for (const awaited of waits ?? []) {
      const readers = this.uses[awaited]?.readers;
      if (readers?.delete(earlier)) readers.add(later);
    }
  }

  finish(): InstructionGraph {
    return { ...this.graph, instructions: this.instructions, before: this.before, uses: this.uses };
  }

  private now(id: number): number {
    return this.movedTo.get(id) ?? id;
  }
}
