import type { RegisteredCollective } from "../api.js";
import { EngineError } from "../errors.js";
import type { Quarantine } from "../quarantine.js";
import { MatchedCollective } from "./matched-collective.js";
import type { MatchedGroup } from "./matched-group.js";
import type { Signature } from "./signature.js";

type Registered = Pick<MatchedCollective, "collective" | "registration">;

/**
 * A rank's registrations of signatures: made at the first use, forgotten when they have long been unused and their places are needed.
 * Found by a hash of the numbers in a signature, since the 128 bits that the ranks match by cost a call into the addon.
 */
export class SignatureTable {
  private readonly byHash = new Map<number, MatchedCollective>();
  private readonly byGroup = new Map<MatchedGroup, Set<MatchedCollective>>();
  private latest: MatchedCollective | undefined;
  private oldest: MatchedCollective | undefined;
  private count = 0;

  constructor(
    /** Registrations that are kept beside one another. */
    private readonly most: number,
    /** @throws {EngineError} OUT_OF_MEMORY where there is no place. Never waits for another rank. */
    private readonly register: (signature: Signature, group: MatchedGroup) => Registered,
    /**
     * Gives its place back. Where it comes back, its next run follows the last one, since others may not have forgotten it.
     * @throws {EngineError} IN_USE where the engine isn't done with it.
     */
    private readonly unregister: (collective: RegisteredCollective, comesBack: boolean) => void,
    private readonly quarantine: Quarantine,
  ) {}

  get size(): number {
    return this.count;
  }

  /**
   * The registration of a signature, made if there is none.
   * @throws {EngineError} OUT_OF_MEMORY where all places are taken by what is in flight.
   */
  get(signature: Signature, group: MatchedGroup): MatchedCollective {
    const hash = hashOf(signature, group.number);
    let entry = this.byHash.get(hash);
    while (entry !== undefined && !entry.is(signature, group)) entry = entry.nextOfHash;
    if (entry === undefined) return this.add(signature, group, hash);
    if (entry !== this.latest) {
      this.unlink(entry);
      this.link(entry);
    }
    return entry;
  }

  /** Registers something, and makes room for it where there is none. */
  withRoom<T>(register: () => T): T {
    for (;;) {
      try {
        return register();
      } catch (error) {
        if (!isEngineError(error, "OUT_OF_MEMORY") || !this.forgetOldest()) throw error;
      }
    }
  }

  /** Forgets what belongs to a group, as far as nothing of it is in flight; the rest when its place is needed. */
  forget(group: MatchedGroup): void {
    for (const entry of this.of(group)) this.forgetOne(entry, false);
  }

  /** What is registered of a group. */
  of(group: MatchedGroup): readonly MatchedCollective[] {
    return [...(this.byGroup.get(group) ?? [])];
  }

  private add(signature: Signature, group: MatchedGroup, hash: number): MatchedCollective {
    while (this.count >= this.most && this.forgetOldest());
    const { collective, registration } = this.registerOne(signature, group);
    const entry = new MatchedCollective(signature, group, hash, collective, registration);
    entry.nextOfHash = this.byHash.get(hash);
    this.byHash.set(hash, entry);
    const ofGroup = this.byGroup.get(group);
    if (ofGroup === undefined) this.byGroup.set(group, new Set([entry]));
    else ofGroup.add(entry);
    this.link(entry);
    this.count += 1;
    return entry;
  }

  private registerOne(signature: Signature, group: MatchedGroup): Registered {
    try {
      return this.withRoom(() => this.register(signature, group));
    } catch (error) {
      // Whatever else memory was too short for, connectors say, has a remedy of its own.
      if (!isEngineError(error, "OUT_OF_MEMORY") || !("collectives" in error.facts)) throw error;
      throw outOfPlaces(error, this.count);
    }
  }

  /** @returns false: every one has runs in flight. */
  private forgetOldest(): boolean {
    for (let entry = this.oldest; entry !== undefined; entry = entry.later) {
      if (this.forgetOne(entry, true)) return true;
    }
    return false;
  }

  /** @returns whether it could be. */
  private forgetOne(entry: MatchedCollective, comesBack: boolean): boolean {
    const { registration, collective, group } = entry;
    if (entry.pins !== 0 || entry.inFlight !== 0) return false;
    if (this.quarantine.has(registration) && !registration.isQuarantineOver()) return false;
    try {
      this.unregister(collective, comesBack);
    } catch (error) {
      if (isEngineError(error, "IN_USE")) return false; // Its daemon isn't done with it.
      throw error;
    }
    this.unlink(entry);
    this.takeFromHash(entry);
    const ofGroup = this.byGroup.get(group);
    ofGroup?.delete(entry);
    if (ofGroup?.size === 0) this.byGroup.delete(group);
    this.count -= 1;
    return true;
  }

  private takeFromHash(entry: MatchedCollective): void {
    let before = this.byHash.get(entry.hash);
    if (before === entry) {
      if (entry.nextOfHash === undefined) this.byHash.delete(entry.hash);
      else this.byHash.set(entry.hash, entry.nextOfHash);
      return;
    }
    while (before !== undefined && before.nextOfHash !== entry) before = before.nextOfHash;
    if (before !== undefined) before.nextOfHash = entry.nextOfHash;
  }

  private link(entry: MatchedCollective): void {
    entry.earlier = this.latest;
    entry.later = undefined;
    if (this.latest === undefined) this.oldest = entry;
    else this.latest.later = entry;
    this.latest = entry;
  }

  private unlink(entry: MatchedCollective): void {
    if (entry.earlier === undefined) this.oldest = entry.later;
    else entry.earlier.later = entry.later;
    if (entry.later === undefined) this.latest = entry.earlier;
    else entry.later.earlier = entry.earlier;
  }
}

const TWO_TO_32 = 2 ** 32;

/** Of the numbers alone: those that differ in the rest lie behind one another. */
function hashOf({ count, tag, root, receiver }: Signature, group: number): number {
  let hash = Math.imul(group, 0x9e3779b1) ^ count ^ Math.imul(count / TWO_TO_32, 0x85ebca6b);
  hash = Math.imul(hash, 0xc2b2ae35) ^ Math.imul((root << 16) ^ receiver, 0x27d4eb2f);
  const low = typeof tag === "number" ? tag : Number(BigInt.asIntN(32, tag));
  hash ^= Math.imul(low ^ Math.imul(low / TWO_TO_32, 0x165667b1), 0x85ebca77);
  return hash ^ (hash >>> 15);
}

/** The limit of a rank's tables, as somebody meets it who has registered nothing and has nothing to unregister. */
function outOfPlaces({ facts }: EngineError, calls: number): EngineError {
  const { rank, collectives, tasks } = facts;
  return new EngineError(
    "OUT_OF_MEMORY",
    `Rank ${rank} has ${calls} different calls in flight, and no place for another one in its tables (${collectives} collectives, ${tasks} program blocks).`,
    "Await some of them, or open the world with larger limits: maxCollectives and maxTasks.",
    { ...facts, calls },
  );
}

function isEngineError(error: unknown, code: string): error is EngineError {
  return error instanceof EngineError && error.code === code;
}
