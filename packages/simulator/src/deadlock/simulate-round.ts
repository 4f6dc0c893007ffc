import type { Component } from "./component.js";
import type { DeadlockConfig } from "./config.js";
import { type IntList, type Odds, oddsOf, type Region, RoundEvents, regionAt } from "./events.js";
import { type ComponentClass, componentsOf } from "./grouping.js";
import { RandomStream } from "./random-stream.js";
import { sequencesOf } from "./sequences.js";
import { type CycleStep, findCycle } from "./settle.js";
import { clustersOf, type Window, windowOf } from "./window.js";

/** A deadlock and where it was found. GPU numbers in it are those of the component. */
export interface FoundDeadlock {
  readonly component: Component;
  /** To add to the component's GPU numbers. */
  readonly firstGpu: number;
  readonly cycle: readonly CycleStep[];
  readonly window: Window;
  /**
   * Everything that each GPU of the component does in the round; in the single-queue model it waits after each submission.
   * To be called before the next round is simulated.
   */
  sequences(): readonly IntList[];
}

/**
 * Simulates rounds of a configuration one by one, skipping to where a GPU leaves its list's order.
 *
 * Equal to simulating every submission, because (1) whether a round deadlocks depends on the GPUs' event sequences only, not
 * on how they interleave (see {@link findCycle}); (2) a cycle needs a GPU that synchronizes between two collectives which it
 * submits out of order; (3) all of a cycle lies close to such a place (see {@link clustersOf}); (4) components that share no
 * group, such as pipeline stages, are independent.
 */
export class RoundSimulator {
  readonly #classes: readonly ComponentClass[];
  readonly #odds: Odds;
  readonly #isSingleQueue: boolean;
  readonly #events = new RoundEvents();
  readonly #random = new RandomStream();
  /** Events drawn so far. */
  drawn = 0;

  constructor(
    config: DeadlockConfig,
    readonly seed: number,
  ) {
    this.#classes = componentsOf(config);
    this.#odds = oddsOf(config.disorderProbability, config.synchronizationProbability);
    this.#isSingleQueue = config.model === "single-queue";
  }

  /** The first deadlock of a round, if any; the same for the same seed and round, whatever was simulated before. */
  simulate(round: number): FoundDeadlock | undefined {
    for (const { component, firstGpus, firstPart } of this.#classes) {
      for (let copy = 0; copy < firstGpus.length; copy += 1) {
        this.#events.draw(component, this.#odds, this.#random.seed(this.seed, round, firstPart + copy));
        this.drawn += this.#events.disorders.length + this.#events.synchronizations.length;
        const found = this.#findDeadlock(component);
        if (found !== undefined) {
          return { component, firstGpu: firstGpus[copy] ?? 0, ...found, sequences: () => sequencesOf(component, this.#events) };
        }
      }
    }
    return undefined;
  }

  /** Everything that each GPU of one of the round's components does, the components taking turns. */
  sequencesOf(round: number): readonly IntList[] {
    const components = this.#classes.flatMap(({ component, firstGpus, firstPart }) =>
      firstGpus.map((_, copy) => ({ component, part: firstPart + copy })),
    );
    const { component, part } = components[round % components.length] ?? {};
    if (component === undefined || part === undefined) return [];
    this.#events.draw(component, this.#odds, this.#random.seed(this.seed, round, part));
    return sequencesOf(component, this.#events);
  }

  #findDeadlock(component: Component): { cycle: readonly CycleStep[]; window: Window } | undefined {
    if (this.#events.disorders.length === 0) return undefined;
    const regions = separatingRegions(component, this.#events, this.#isSingleQueue);
    if (regions.length === 0) return undefined;
    for (const cluster of clustersOf(component, regions)) {
      const window = windowOf(component, this.#events, cluster, this.#isSingleQueue);
      if (window.gpus.length < 2) continue;
      const cycle = findCycle(window);
      if (cycle !== undefined) return { cycle, window };
    }
    return undefined;
  }
}

/** The regions with a synchronization between their first and last pick: the only ones that a cycle can come from. */
function separatingRegions(component: Component, events: RoundEvents, synchronizesAlways: boolean): readonly Region[] {
  const regions: Region[] = [];
  const { disorders, skips, synchronizations } = events;
  let gpu = 0;
  let synchronization = 0;
  let index = 0;
  while (index < disorders.length) {
    const at = disorders.at(index);
    while ((component.offsets[gpu + 1] ?? 0) <= at) gpu += 1;
    // Without another disorder inside, a region ends where what it skipped is submitted: known without building it.
    const last = Math.min(at + skips.at(index), (component.offsets[gpu + 1] ?? 0) - 1);
    const isSimple = index + 1 >= disorders.length || disorders.at(index + 1) > last;
    if (isSimple && !synchronizesAlways) {
      while (synchronization < synchronizations.length && synchronizations.at(synchronization) <= at) synchronization += 1;
      if (synchronization >= synchronizations.length) break;
      if (synchronizations.at(synchronization) > last) {
        index += 1;
        continue;
      }
    }
    const { region, next } = regionAt(component, events, gpu, index);
    index = next;
    if (region !== undefined && (synchronizesAlways || isSeparated(component, events, region))) regions.push(region);
  }
  return regions;
}

function isSeparated(component: Component, { synchronizations }: RoundEvents, region: Region): boolean {
  const offset = component.offsets[region.gpu] ?? 0;
  const index = synchronizations.lowerBound(offset + region.first + 1);
  return index < synchronizations.length && synchronizations.at(index) <= offset + region.last;
}
