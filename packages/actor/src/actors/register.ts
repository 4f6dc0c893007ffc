import { ActorProtocolError } from "./errors.js";
import { Fifo } from "./fifo.js";
import type { RegisterSpec } from "./register-spec.js";

/** One buffer of a {@link RegisterSpec}. Its producer owns it while nobody reads. */
export class Register {
  /** What it shows; another's memory where the register is in place. */
  data: Float32Array;
  /** Which of its producer's results it holds, from 0. */
  record = -1;
  /** Consumers that have not acknowledged it. */
  readers = 0;

  constructor(
    readonly spec: RegisterSpec,
    readonly index: number,
    memory: Float32Array,
  ) {
    this.data = memory;
  }
}

/** The registers of one spec, on their producer's side. */
export class RegisterPool {
  private readonly free = new Fifo<Register>();
  /** Taken and not sent yet. */
  private current: Register | undefined;
  private sent = 0;

  constructor(
    readonly spec: RegisterSpec,
    allocate: (elements: number) => Float32Array,
  ) {
    const elements = spec.inPlaceOf === undefined ? (spec.elements ?? 0) : 0;
    for (let index = 0; index < (spec.count ?? 1); index += 1) this.free.push(new Register(spec, index, allocate(elements)));
  }

  get hasFree(): boolean {
    return this.current !== undefined || this.free.length > 0;
  }

  /** Nobody reads any. */
  get isQuiet(): boolean {
    return this.free.length + (this.current === undefined ? 0 : 1) === (this.spec.count ?? 1);
  }

  /** The register that the next result goes to; the same until it is sent. @pre hasFree */
  take(): Register {
    this.current ??= this.free.shift();
    if (this.current === undefined) throw new ActorProtocolError(`register ${this.spec.id}`, "is taken although none is free");
    return this.current;
  }

  /** @returns the register that goes out, with a reader for each consumer. */
  send(): Register {
    const register = this.take();
    this.current = undefined;
    register.record = this.sent;
    register.readers = this.spec.consumers.length;
    this.sent += 1;
    if (register.readers === 0) this.free.push(register);
    return register;
  }

  /** A consumer has read it. @returns whether that was the last, so that it is free again. */
  acknowledge(register: Register): boolean {
    if (register.readers === 0) throw new ActorProtocolError(`register ${this.spec.id}`, "is acknowledged although nobody reads it");
    register.readers -= 1;
    if (register.readers > 0) return false;
    this.free.push(register);
    return true;
  }
}
