import type { CollectiveBuffer } from "../backend.js";
import type { MatchedGroup } from "./matched-group.js";
import type { Signature } from "./signature.js";

type Buffer = CollectiveBuffer | null | undefined;

/** One run, as a caller describes it. */
export interface MatchedRun {
  readonly signature: Signature;
  readonly send: Buffer;
  readonly recv: Buffer;
  /** Of a message of this rank to itself, its role; it moves when both halves are there. The buffer is checked. */
  readonly half?: "send" | "recv" | undefined;
  /** Of a receive from any member, which the signature doesn't name yet: who has sent. The buffer is checked. */
  readonly received?: { source: number | undefined } | undefined;
}

/** Runs of a group, which are over together. */
export interface Call {
  readonly group: MatchedGroup;
  readonly runs: readonly MatchedRun[];
  readonly timeoutMs: number | undefined;
}
