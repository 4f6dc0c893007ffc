import type { Signature } from "./signature.js";
import type { SourceLine } from "./source-line.js";
import type { Span } from "./span.js";

/** One operation, in the order in which the program says it. Spans have the one name that a place in memory has. */
export interface TracedOperation {
  readonly kind: "copy" | "reduce";
  readonly src: Span;
  readonly dst: Span;
  /** The user's directive. */
  readonly channel: number | undefined;
  /** Product of the factors of the `parallelize` blocks around it. */
  readonly parallel: number;
  readonly line: SourceLine;
}

/** What a program of the language does, chunk by chunk. */
export interface Trace {
  readonly signature: Signature;
  readonly operations: readonly TracedOperation[];
  /** Scratch chunks by rank: as many as are used. */
  readonly scratchChunks: readonly number[];
}
