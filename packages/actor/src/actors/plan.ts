import type { Register } from "./register.js";
import type { TaskId } from "./task-id.js";

/** Registers through which one task hands its results to others. */
export interface RegisterSpec {
  /** A whole number, once in a plan. */
  readonly id: number;
  readonly producer: TaskId;
  readonly consumers: readonly TaskId[];
  /**
   * How many there are, default 1: so many results may be outstanding at once. It bounds memory, holds producers back, and
   * says how deep a pipeline is.
   */
  readonly count?: number;
  /** Elements of each; 0 (the default) for a control edge, which carries order alone. */
  readonly elements?: number;
  /**
   * These registers show the memory of that input instead of their own: it is acknowledged only when they have been read. The
   * producer may write to it if it is that input's only consumer.
   */
  readonly inPlaceOf?: number;
}

/** One act, as a kernel sees it. */
export interface Act {
  /** From 0. */
  readonly number: number;
  /** A register of each input, in the order of the task's `consumes`. Read only, unless an output is in place of it. */
  readonly inputs: readonly Register[];
  /** A register of each output, in the order of `produces`; the same again while none has been sent. */
  readonly outputs: readonly Register[];
}

/**
 * What a task does when it acts. Calls `done` once, at once or later; messages leave then.
 * @param done - with a failure, the whole run ends with it.
 */
export type Kernel = (act: Act, done: (failure?: unknown) => void) => void;

/** Which of a task's acts give their inputs back, and which send their outputs. */
export interface Rhythm {
  /** Inputs are given back at every so many acts, default 1: `unpack` and `repeat` hold theirs for K. */
  readonly actsPerInput?: number;
  /** Outputs are sent at every so many acts, default 1: `pack` and `accumulate` send after K. */
  readonly actsPerOutput?: number;
}

export interface TaskSpec {
  readonly id: TaskId;
  /** For messages and drawings. */
  readonly name: string;
  /** Ids of registers, in the order that the kernel wants. */
  readonly consumes: readonly number[];
  readonly produces: readonly number[];
  readonly kernel: Kernel;
  readonly rhythm?: Rhythm;
  /** How often a task without inputs acts; then its record ends. */
  readonly records?: number;
  /** Its kernel only submits: meanwhile other tasks of the thread may act. So it is with collectives. */
  readonly isAsynchronous?: boolean;
}

/** What actors execute: a graph of tasks over registers. */
export interface ActorPlan {
  readonly tasks: readonly TaskSpec[];
  readonly registers: readonly RegisterSpec[];
}
