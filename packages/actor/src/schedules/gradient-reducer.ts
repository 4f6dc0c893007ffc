/** How gradients get their order. */
export const scheduleNames = ["preemptive", "static", "coordinator", "learned"] as const;

/**
 * - `preemptive`: submitted at once, in whatever order they become ready; the library sorts it out.
 * - `static`: in an order and in groups fixed before the start, as OneFlow's static sorting does.
 * - `coordinator`: one rank collects who is ready and announces what all may run, as Horovod's does, with its cycle and its fusion.
 * - `learned`: in the order that the ranks agreed on after the first step, as KungFu does.
 */
export type ScheduleName = (typeof scheduleNames)[number];

/** A gradient that is reduced in every step. All ranks list the same ones. */
export interface GradientTensor {
  /** A whole number, which names it on all ranks; the id of its all-reduce. */
  readonly id: number;
  /** For messages. */
  readonly name?: string;
  readonly elements: number;
  /** Larger is more urgent: layers that the next forward pass needs first. Default 0. */
  readonly priority?: number;
}

/** Counts since the reducer was opened. */
export interface ReducerStatistics {
  /** Gradients reduced. */
  readonly reduced: number;
  /** All-reduces submitted; fewer than gradients where some were fused. */
  readonly submitted: number;
  /** Publications to the library's queue. */
  readonly batches: number;
  /** Messages that this rank sent about order. */
  readonly messages: number;
}

/**
 * One rank's reduction of its gradients, while they are computed. Hand each in when it is there; it is reduced in place, and
 * its callback says when the sum (or mean) of all ranks is in it. Ranks may hand theirs in in any order.
 */
export interface GradientReducer {
  readonly schedule: ScheduleName;
  /**
   * The gradient is there. Until its callback the memory belongs to the reducer.
   * @param onReduced - called once, never within this call; with the failure where there is one, undefined otherwise.
   *   What it throws is what endStep() rejects with.
   * @throws {GradientError} for an unknown tensor, a wrong length, or one that is being reduced already.
   */
  ready(id: number, data: Float32Array, onReduced?: (failure: unknown) => void): void;
  /** The same as a promise. */
  reduce(id: number, data: Float32Array): Promise<void>;
  /**
   * Ends this rank's step: resolves once all that was handed in has been reduced; rejects with the first failure.
   * @throws {IncompleteStepError} where the schedule waits for a gradient that wasn't handed in.
   */
  endStep(): Promise<void>;
  statistics(): ReducerStatistics;
  /** Unregisters everything. Twice is fine. @pre nothing is being reduced. */
  close(): void;
}
