import type { Register } from "./register.js";
import type { RegisterSpec } from "./register-spec.js";
import type { TaskId } from "./task-id.js";

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
