import type { CollectiveBuffer } from "../backend.js";
import type { MatchedCollective } from "./matched-collective.js";
import type { MatchedGroup } from "./matched-group.js";

/** A message of a rank to itself, in one of its roles. */
export interface Half {
  readonly buffer: CollectiveBuffer;
  /** With the run that both halves become. */
  readonly resolve: (run: PromiseLike<void>) => void;
  readonly reject: (error: unknown) => void;
}

/** Of one signature, those whose other half is missing: all in the same role. */
interface Halves {
  areSends: boolean;
  readonly waiting: Half[];
}

/** Of a rank, the messages to itself whose other half is missing. */
export class SelfMessages {
  private readonly halves = new Map<MatchedCollective, Halves>();

  /** @returns the other half, the oldest that there is, taken out; undefined: this one waits. */
  meet(entry: MatchedCollective, isSend: boolean, half: Half): Half | undefined {
    const halves = this.halves.get(entry);
    if (halves === undefined) {
      this.halves.set(entry, { areSends: isSend, waiting: [half] });
      entry.pins += 1; // It stays registered meanwhile.
      return undefined;
    }
    if (halves.areSends === isSend) {
      halves.waiting.push(half);
      return undefined;
    }
    const other = halves.waiting.shift();
    if (halves.waiting.length === 0) this.remove(entry);
    return other;
  }

  /** Whether one is sent that nobody receives. */
  hasSend(entry: MatchedCollective): boolean {
    return this.halves.get(entry)?.areSends === true;
  }

  /** How many wait, of a group or one signature of it. */
  countOf(group: MatchedGroup, only?: MatchedCollective): number {
    if (only !== undefined) return this.halves.get(only)?.waiting.length ?? 0;
    let count = 0;
    for (const [entry, { waiting }] of this.halves) if (entry.group === group) count += waiting.length;
    return count;
  }

  /** Fails what waits, of a group or all. */
  failAll(error: unknown, group?: MatchedGroup): void {
    for (const [entry, { waiting }] of [...this.halves]) {
      if (group !== undefined && entry.group !== group) continue;
      this.remove(entry);
      for (const { reject } of waiting) reject(error);
    }
  }

  private remove(entry: MatchedCollective): void {
    this.halves.delete(entry);
    entry.pins -= 1;
  }
}
