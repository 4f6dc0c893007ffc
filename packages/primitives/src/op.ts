import { lookUp } from "./look-up.js";

/**
 * The primitive instructions, in the order of their codes (`Op` in native/src/base/program.hpp).
 * `connection` is the step's send or receive connection, `(+)` the collective's reduction operator.
 */
export const ops = [
  "nop", // waits for its dependencies only
  "send", // connection <- src
  "recv", // dst <- connection
  "copy", // dst <- src
  "reduce", // dst <- dst (+) src
  "recvCopySend", // dst <- connection; connection <- the same
  "recvReduceCopy", // dst <- src (+) connection
  "recvReduceSend", // connection <- src (+) connection
  "recvReduceCopySend", // dst and connection <- src (+) connection
  "multiReduceCopy", // every destination ref <- reduce over the source refs, in order
] as const;

export type Op = (typeof ops)[number];

/** Which operands an instruction has. */
export interface OpShape {
  readonly hasSource: boolean;
  readonly hasDestination: boolean;
  readonly receives: boolean;
  readonly sends: boolean;
  /** Combines values, so its result can be the complete reduction. */
  readonly reduces: boolean;
}

const shapes: Readonly<Record<Op, OpShape>> = {
  nop: opShape(""),
  send: opShape("source sends"),
  recv: opShape("destination receives"),
  copy: opShape("source destination"),
  reduce: opShape("source destination reduces"),
  recvCopySend: opShape("destination receives sends"),
  recvReduceCopy: opShape("source destination receives reduces"),
  recvReduceSend: opShape("source receives sends reduces"),
  recvReduceCopySend: opShape("source destination receives sends reduces"),
  multiReduceCopy: opShape("reduces"),
};

function opShape(words: string): OpShape {
  const has = new Set(words.split(" "));
  return {
    hasSource: has.has("source"),
    hasDestination: has.has("destination"),
    receives: has.has("receives"),
    sends: has.has("sends"),
    reduces: has.has("reduces"),
  };
}

/** Operands of an instruction. `multiReduceCopy` has reference lists instead of source and destination. */
export function opShapeOf(op: Op): OpShape {
  return lookUp(shapes, "op", op);
}

export function opCode(op: Op): number {
  return ops.indexOf(op);
}
