import { ActorProtocolError } from "./errors.js";
import { Fifo } from "./fifo.js";
import type { ActorMessage } from "./message.js";
import type { Act, TaskSpec } from "./plan.js";
import { type Register, RegisterPool } from "./register.js";
import type { RegisterSpec } from "./register-spec.js";

/** Registers of one kind that came and were not given back. The first is what an act reads. */
interface Input {
  readonly spec: RegisterSpec;
  readonly queue: Fifo<Register>;
  hasEnded: boolean;
}

/** An input that outputs show: it goes back when it is released and all of them have been read. */
interface Shown {
  readonly register: Register;
  outputs: number;
  isReleased: boolean;
}

/**
 * A task's state. It can act while every input has a register and every output a free one; it changes only through messages and
 * through its own acts, and tells others only through `send`.
 */
export class Actor {
  private readonly inputs: Input[];
  private readonly pools: RegisterPool[];
  private readonly shown = new Map<Register, Shown>();
  private readonly shownBy = new Map<Register, Shown>();
  private acts = 0;
  private isStarted = false;
  private isStopped = false;
  private isActing = false;
  private hasSentEnd = false;

  constructor(
    readonly task: TaskSpec,
    registerSpec: (id: number) => RegisterSpec,
    allocate: (elements: number) => Float32Array,
    private readonly send: (message: ActorMessage) => void,
  ) {
    this.inputs = task.consumes.map((id) => ({ spec: registerSpec(id), queue: new Fifo(), hasEnded: false }));
    this.pools = task.produces.map((id) => new RegisterPool(registerSpec(id), allocate));
  }

  get canAct(): boolean {
    if (!this.isStarted || this.isActing || this.hasSentEnd) return false;
    if (this.inputs.length === 0 && (this.isStopped || this.acts >= (this.task.records ?? 0))) return false;
    return this.inputs.every(({ queue }) => queue.length > 0) && this.pools.every(({ hasFree }) => hasFree);
  }

  /** Its record has ended, and nobody reads its registers any more. */
  get isFinished(): boolean {
    return this.hasSentEnd && this.shown.size === 0 && this.pools.every(({ isQuiet }) => isQuiet);
  }

  /** Specs of the inputs that nothing has come for, and of the outputs whose registers are all out. */
  missing(): { readonly inputs: readonly RegisterSpec[]; readonly outputs: readonly RegisterSpec[] } {
    return {
      inputs: this.inputs.filter(({ queue, hasEnded }) => queue.length === 0 && !hasEnded).map(({ spec }) => spec),
      outputs: this.pools.filter(({ hasFree, isQuiet }) => (this.hasSentEnd ? !isQuiet : !hasFree)).map(({ spec }) => spec),
    };
  }

  receive(message: ActorMessage): void {
    if (message.kind === "command") {
      if (message.command === "start") this.isStarted = true;
      else this.isStopped = true;
    } else if (message.kind === "data") this.input(message.register.spec.id).queue.push(message.register);
    else if (message.kind === "end") this.input(message.registerId).hasEnded = true;
    else this.acknowledged(message.register);
    this.endIfOver();
  }

  /** Begins an act. @pre canAct */
  begin(): Act {
    this.isActing = true;
    const inputs = this.inputs.map(({ queue }) => queue.first as Register);
    const outputs = this.pools.map((pool) => pool.take());
    outputs.forEach((output) => {
      const { inPlaceOf } = output.spec;
      if (inPlaceOf !== undefined) output.data = (inputs[this.task.consumes.indexOf(inPlaceOf)] as Register).data;
    });
    return { number: this.acts, inputs, outputs };
  }

  /** The kernel has finished: outputs go out and inputs back, as the rhythm says. */
  end(): void {
    this.isActing = false;
    this.acts += 1;
    const { actsPerInput = 1, actsPerOutput = 1 } = this.task.rhythm ?? {};
    if (this.acts % actsPerOutput === 0) for (const pool of this.pools) this.emit(pool);
    if (this.acts % actsPerInput === 0) for (const { queue } of this.inputs) this.release(queue.shift() as Register);
    this.endIfOver();
  }

  private emit(pool: RegisterPool): void {
    const register = pool.send();
    const { inPlaceOf, consumers } = register.spec;
    if (inPlaceOf !== undefined && consumers.length > 0) {
      const input = this.input(inPlaceOf).queue.first as Register;
      const shown = this.shown.get(input) ?? { register: input, outputs: 0, isReleased: false };
      shown.outputs += 1;
      this.shown.set(input, shown);
      this.shownBy.set(register, shown);
    }
    for (const to of consumers) this.send({ kind: "data", from: this.task.id, to, register });
  }

  private release(register: Register): void {
    const shown = this.shown.get(register);
    if (shown === undefined) this.giveBack(register);
    else shown.isReleased = true;
  }

  private acknowledged(register: Register): void {
    const pool = this.pools.find(({ spec }) => spec.id === register.spec.id);
    if (pool === undefined)
      throw new ActorProtocolError(this.task.name, `gets an acknowledgement of register ${register.spec.id}, not its own`);
    if (!pool.acknowledge(register)) return;
    const shown = this.shownBy.get(register);
    if (shown === undefined) return;
    this.shownBy.delete(register);
    shown.outputs -= 1;
    if (shown.outputs > 0 || !shown.isReleased) return;
    this.shown.delete(shown.register);
    this.giveBack(shown.register);
  }

  private giveBack(register: Register): void {
    this.send({ kind: "acknowledgement", from: this.task.id, to: register.spec.producer, register });
  }

  private endIfOver(): void {
    if (this.hasSentEnd || this.isActing || !this.isStarted) return;
    const isOver =
      this.inputs.length === 0
        ? this.isStopped || this.acts >= (this.task.records ?? 0)
        : this.inputs.every(({ queue, hasEnded }) => hasEnded && queue.length === 0);
    if (!isOver) return;
    this.hasSentEnd = true;
    for (const { spec } of this.pools) {
      for (const to of spec.consumers) this.send({ kind: "end", from: this.task.id, to, registerId: spec.id });
    }
  }

  private input(id: number): Input {
    const input = this.inputs.find(({ spec }) => spec.id === id);
    if (input === undefined) throw new ActorProtocolError(this.task.name, `gets register ${id}, which it doesn't consume`);
    return input;
  }
}
