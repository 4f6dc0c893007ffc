import type { SimulatedCollective } from "./scenario.js";
import type { Links } from "./topology.js";

// Steps by which a rank may run ahead of its right neighbour.
const slots = 8;
// Steps of a rank whose arrivals its right neighbour may still ask for: it is at most so far behind.
const kept = 2 * slots;

/** A collective under way: which steps each rank has committed, and when what they sent arrives. Committed steps stay. */
export class RunningCollective {
  readonly steps: number;
  readonly #bytesPerStep: number;
  readonly #placeOf: ReadonlyMap<number, number>;
  readonly #committed: Int32Array;
  /** `#arrivals[place · kept + step % kept]`: when that step's data is at the right neighbour. */
  readonly #arrivals: Float64Array;

  constructor(readonly collective: SimulatedCollective) {
    const { ranks, bytes } = collective;
    this.steps = Math.max(1, 2 * (ranks.length - 1));
    this.#bytesPerStep = ranks.length === 1 ? 0 : bytes / ranks.length;
    this.#placeOf = new Map(ranks.map((rank, place) => [rank, place]));
    this.#committed = new Int32Array(ranks.length);
    this.#arrivals = new Float64Array(ranks.length * kept);
  }

  /** When the rank's next step can begin: Infinity while a neighbour must act first. */
  readyAt(rank: number): number {
    const size = this.#committed.length;
    if (size === 1) return 0;
    const place = this.#place(rank);
    const step = this.#committed[place] ?? 0;
    const [left, right] = [(place - 1 + size) % size, (place + 1) % size];
    if (step > 0 && (this.#committed[left] ?? 0) < step) return Number.POSITIVE_INFINITY;
    if (step - (this.#committed[right] ?? 0) >= slots) return Number.POSITIVE_INFINITY;
    return step === 0 ? 0 : (this.#arrivals[left * kept + ((step - 1) % kept)] ?? 0);
  }

  /** Commits the rank's next step. @returns when the rank is done with it, when its data is there, and whether it was the last. */
  commit(now: number, rank: number, links: Links): { readonly doneAt: number; readonly arrivesAt: number; readonly isComplete: boolean } {
    const { ranks } = this.collective;
    const place = this.#place(rank);
    const step = this.#committed[place] ?? 0;
    const right = ranks[(place + 1) % ranks.length] ?? rank;
    const { sentAt, arrivesAt } = ranks.length === 1 ? { sentAt: now, arrivesAt: now } : links.send(now, rank, right, this.#bytesPerStep);
    this.#committed[place] = step + 1;
    this.#arrivals[place * kept + (step % kept)] = arrivesAt;
    return { doneAt: sentAt, arrivesAt, isComplete: step + 1 === this.steps };
  }

  /** Who may go on because this rank committed a step. */
  neighbours(rank: number): readonly number[] {
    const { ranks } = this.collective;
    const place = this.#place(rank);
    const [left, right] = [ranks[(place - 1 + ranks.length) % ranks.length], ranks[(place + 1) % ranks.length]];
    return left === undefined || right === undefined || left === rank ? [] : left === right ? [right] : [right, left];
  }

  #place(rank: number): number {
    return this.#placeOf.get(rank) ?? 0;
  }
}
