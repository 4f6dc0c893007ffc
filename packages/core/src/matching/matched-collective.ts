import type { RegisteredCollective } from "../api.js";
import type { Registration } from "../registration.js";
import type { MatchedGroup } from "./matched-group.js";
import type { Signature } from "./signature.js";

/** A signature that this rank has registered. */
export class MatchedCollective {
  /** Calls that are about to submit runs of it. */
  pins = 0;
  /** The next of the same hash. */
  nextOfHash: MatchedCollective | undefined;
  // In the order of use.
  earlier: MatchedCollective | undefined;
  later: MatchedCollective | undefined;

  constructor(
    readonly signature: Signature,
    readonly group: MatchedGroup,
    readonly hash: number,
    readonly collective: RegisteredCollective,
    readonly registration: Registration,
  ) {}

  /** Runs that aren't over, or whose end nobody has heard of yet. */
  get inFlight(): number {
    return this.registration.issuedRuns - this.registration.deliveredRuns;
  }

  is(signature: Signature, group: MatchedGroup): boolean {
    const own = this.signature;
    return (
      this.group === group &&
      own.count === signature.count &&
      own.tag === signature.tag &&
      own.countsHash === signature.countsHash &&
      own.collective === signature.collective &&
      own.dataType === signature.dataType &&
      own.op === signature.op &&
      own.root === signature.root &&
      own.receiver === signature.receiver &&
      own.purpose === signature.purpose
    );
  }
}
