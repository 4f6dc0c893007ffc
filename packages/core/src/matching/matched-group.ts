import type { NativeId } from "../native-addon/native-world.js";

/** One rank's membership in a group, as the engine's side knows it. */
export class MatchedGroup {
  /** This rank's place. */
  readonly member: number;
  /** Splits that this rank has submitted. */
  splits = 0;
  /** When those that were called before have been. */
  splitting: Promise<unknown> = Promise.resolve();
  isDropped = false;
  isAborted = false;

  constructor(
    readonly id: NativeId,
    /** Ranks of the world, in the group's order. */
    readonly ranks: readonly number[],
    rank: number,
    /** Tells it from this rank's other groups. */
    readonly number: number,
  ) {
    this.member = ranks.indexOf(rank);
  }

  get size(): number {
    return this.ranks.length;
  }
}
