import type { Component } from "./component.js";
import type { RandomStream } from "./random-stream.js";

/** Whole numbers that are appended, kept from round to round to spare the allocator. */
export class IntList {
  values = new Int32Array(64);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) {
      const grown = new Int32Array(2 * this.length);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.length] = value;
    this.length += 1;
  }

  at(index: number): number {
    return this.values[index] ?? 0;
  }

  /** Index of the first of the ascending values that is at least `value`. */
  lowerBound(value: number): number {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.at(middle) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Probabilities as the sampler needs them. */
export interface Odds {
  readonly disorder: number;
  /** log(1 - disorder): 0 where disorder is impossible. */
  readonly logOrder: number;
  readonly synchronization: number;
  readonly logNoSynchronization: number;
}

export function oddsOf(disorder: number, synchronization: number): Odds {
  return { disorder, logOrder: Math.log1p(-disorder), synchronization, logNoSynchronization: Math.log1p(-synchronization) };
}

/**
 * Everything that is random in one round of one component: where a GPU leaves its list's order, and where it synchronizes.
 * A submission is named by its place among those of all GPUs, `component.offsets[gpu] + pick`; pick k is a GPU's k-th
 * submission, whatever it submits. All lists ascend.
 */
export class RoundEvents {
  /** Submissions that skip the head of the remaining list. */
  readonly disorders = new IntList();
  /** `skips[i]`: by how many `disorders[i]` skips; less where fewer remain. */
  readonly skips = new IntList();
  /** Submissions before which the GPU synchronizes. Several synchronizations in a row are one. */
  readonly synchronizations = new IntList();

  /**
   * Draws a round, in time that grows with the events and not with the submissions: the way to the next event has a geometric
   * distribution.
   */
  draw(component: Component, odds: Odds, random: RandomStream): void {
    const total = component.offsets.at(-1) ?? 0;
    this.disorders.length = 0;
    this.skips.length = 0;
    this.synchronizations.length = 0;
    for (let at = random.failuresBefore(odds.logOrder); at < total; at += 1 + random.failuresBefore(odds.logOrder)) {
      let skip = 1;
      // Past the longest list nothing changes any more; that also ends the loop where disorder is certain.
      while (skip < total && random.uniform() <= odds.disorder) skip += 1;
      this.disorders.push(at);
      this.skips.push(skip);
    }
    for (
      let at = random.failuresBefore(odds.logNoSynchronization);
      at < total;
      at += 1 + random.failuresBefore(odds.logNoSynchronization)
    ) {
      this.synchronizations.push(at);
    }
  }
}

/**
 * A stretch of a GPU's picks that submits the same entries of its list, in another order: `items[i]` is the place in the
 * list of what pick `first + i` submits. It can't be divided: at every pick in it something is still skipped.
 */
export interface Region {
  readonly gpu: number;
  readonly first: number;
  readonly last: number;
  readonly items: readonly number[];
}

/**
 * The stretch that begins with disorder number `index`.
 * @returns the region, or undefined where nothing was left to skip, and the number of the first disorder behind it.
 */
export function regionAt(component: Component, events: RoundEvents, gpu: number, index: number): { region?: Region; next: number } {
  const offset = component.offsets[gpu] ?? 0;
  const length = (component.offsets[gpu + 1] ?? 0) - offset;
  const first = events.disorders.at(index) - offset;
  const items: number[] = [];
  const skipped: number[] = []; // ascending
  let head = first; // the first entry behind all that were submitted or skipped
  let next = index;
  let pick = first;
  do {
    const isDisordered = next < events.disorders.length && events.disorders.at(next) === offset + pick;
    const choice = isDisordered ? Math.min(events.skips.at(next), length - pick - 1) : 0;
    if (isDisordered) next += 1;
    while (skipped.length <= choice) {
      skipped.push(head);
      head += 1;
    }
    items.push(...skipped.splice(choice, 1));
    pick += 1;
  } while (skipped.length > 0);
  if (pick === first + 1) return { next };
  return { region: { gpu, first, last: pick - 1, items }, next };
}
