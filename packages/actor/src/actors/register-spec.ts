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
