import type { ActorMessage, ActorPlan, Register, TaskId } from "../../src/index.js";

/** Counts from the messages alone, by its own books, which registers are out and with whom. */
export class RegisterWatch {
  readonly faults: string[] = [];
  private readonly out = new Map<number, Map<Register, Set<TaskId>>>();
  private readonly counts: ReadonlyMap<number, number>;

  constructor({ registers }: ActorPlan) {
    this.counts = new Map(registers.map(({ id, count = 1 }) => [id, count]));
  }

  readonly see = (message: ActorMessage): void => {
    if (message.kind !== "data" && message.kind !== "acknowledgement") return;
    const { register } = message;
    const { id } = register.spec;
    const out = this.out.get(id) ?? new Map<Register, Set<TaskId>>();
    this.out.set(id, out);
    const readers = out.get(register) ?? new Set<TaskId>();
    if (message.kind === "data") {
      if (readers.has(message.to)) this.faults.push(`register ${id} was sent twice`);
      out.set(register, readers.add(message.to));
      if (out.size > (this.counts.get(id) ?? 0)) this.faults.push(`${out.size} of register ${id} are out`);
    } else {
      if (!readers.delete(message.from)) this.faults.push(`register ${id} came back twice`);
      if (readers.size === 0) out.delete(register);
    }
  };

  /** Registers that never came back. */
  lost(): number {
    return [...this.out.values()].reduce((sum, { size }) => sum + size, 0);
  }
}
