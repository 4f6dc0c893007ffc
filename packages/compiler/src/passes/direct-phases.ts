import type { ChunkRef } from "@dfccl/primitives";
import { NotInPhasesError } from "../language/errors.js";
import type { BlockPlan } from "./assign-blocks.js";
import type { DirectGraph } from "./direct-accesses.js";
import type { Instruction } from "./instruction-graph.js";
import type { ReplicatedTrace } from "./replicate.js";

/**
 * Keeps reads and writes of other ranks' memory apart, for links that carry less where both mix: a reduction whose result
 * goes to other ranks makes it in memory of its own rank, and a copy takes it from there to the others. In every block what
 * stays on its rank comes first, then the copies out.
 * @throws {NotInPhasesError} at the line of an operation that needs another order, or where no reduction is copied out.
 */
export function directPhases(direct: DirectGraph, trace: ReplicatedTrace): DirectGraph {
  return new DirectPhases(direct, trace).rewrite();
}

class DirectPhases {
  private readonly instructions: (Instruction | undefined)[];
  private readonly before: Set<number>[];
  private readonly uses: DirectGraph["graph"]["uses"][number][];
  private readonly blockOf: (BlockPlan | undefined)[];

  constructor(
    private readonly direct: DirectGraph,
    private readonly trace: ReplicatedTrace,
  ) {
    this.instructions = [...direct.graph.instructions];
    this.before = direct.graph.before.map((awaited) => new Set(awaited));
    this.uses = [...direct.graph.uses];
    this.blockOf = [...direct.blocks.blockOf];
  }

  rewrite(): DirectGraph {
    const { graph, blocks } = this.direct;
    for (const instruction of graph.instructions) if (instruction !== undefined) this.split(instruction);
    if (this.instructions.length === graph.instructions.length) {
      throw new NotInPhasesError("the program", "no reduction's result goes to other ranks");
    }
    this.checkOrder();
    this.orderPhases();
    const { instructions, before, uses, blockOf } = this;
    return { ...this.direct, graph: { ...graph, instructions, before, uses }, blocks: { ...blocks, blockOf } };
  }

  private split(reduction: Instruction): void {
    const { id, rank, direct } = reduction;
    const own = direct?.destinations.filter((place) => place.rank === rank) ?? [];
    const others = direct?.destinations.filter((place) => place.rank !== rank) ?? [];
    const [from] = own;
    if (direct === undefined || direct.sources.length === 1 || from === undefined || others.length === 0) return;
    const copy = this.instructions.length;
    this.instructions[id] = { ...reduction, direct: { ...direct, destinations: own } };
    this.instructions[copy] = { ...reduction, id: copy, direct: { sources: [from], destinations: others } };
    this.uses[copy] = { readers: new Set(), isFinal: false, forwards: id };
    this.blockOf[copy] = this.blockOf[id];
    for (const waiter of this.overwritersOf(reduction, from)) this.before[waiter]?.add(copy);
    this.before[copy] = new Set([id]);
  }

  /** What awaits a reduction because it needs the place for something else. */
  private overwritersOf({ id, count }: Instruction, { rank, buffer, chunk }: ChunkRef): number[] {
    const overwrites = (waiter: Instruction | undefined) =>
      waiter?.direct?.destinations.some(
        (place) => place.rank === rank && place.buffer === buffer && place.chunk < chunk + count && chunk < place.chunk + waiter.count,
      );
    return this.before.flatMap((awaited, waiter) => (awaited.has(id) && overwrites(this.instructions[waiter]) === true ? [waiter] : []));
  }

  /** What goes step by step can wait for nothing but the order of its own block. */
  private checkOrder(): void {
    this.before.forEach((awaited, id) => {
      const waiter = this.instructions[id];
      for (const other of awaited) {
        const instruction = this.instructions[other];
        if (waiter === undefined || instruction === undefined) continue;
        if (this.blockOf[id] !== this.blockOf[other]) throw this.refusal(waiter, "it waits for what another block of its rank does");
        if (!isCopyOut(waiter) && isCopyOut(instruction)) throw this.refusal(waiter, "it must come after a copy to other ranks");
      }
    });
  }

  private orderPhases(): void {
    const first = new Map<BlockPlan | undefined, number[]>();
    this.instructions.forEach((instruction, id) => {
      if (instruction === undefined || isCopyOut(instruction)) return;
      const block = this.blockOf[id];
      first.set(block, [...(first.get(block) ?? []), id]);
    });
    this.instructions.forEach((instruction, id) => {
      if (instruction === undefined || !isCopyOut(instruction)) return;
      for (const other of first.get(this.blockOf[id]) ?? []) this.before[id]?.add(other);
    });
  }

  private refusal({ operations }: Instruction, why: string): NotInPhasesError {
    return new NotInPhasesError(this.trace.operations[operations[0] ?? -1]?.line ?? "the program", why);
  }
}

function isCopyOut({ rank, direct }: Instruction): boolean {
  return direct?.destinations.some((place) => place.rank !== rank) === true;
}
