import type { Component } from "./component.js";
import { IntList, type RoundEvents, regionAt } from "./events.js";
import type { RandomStream } from "./random-stream.js";

/** In a sequence, a synchronization instead of a collective. */
export const SYNCHRONIZATION = -1;

/**
 * Everything that each GPU does in a round, one action an entry: what {@link RoundEvents} says in short.
 * @param random - for how many synchronizations there are where there is one; each where there is one if not given.
 */
export function sequencesOf(
  component: Component,
  events: RoundEvents,
  repeat?: { readonly random: RandomStream; readonly probability: number },
): readonly IntList[] {
  let disorder = 0;
  let synchronization = 0;
  return component.lists.map((list, gpu) => {
    const offset = component.offsets[gpu] ?? 0;
    const sequence = new IntList();
    const push = (pick: number, item: number): void => {
      while (synchronization < events.synchronizations.length && events.synchronizations.at(synchronization) === offset + pick) {
        synchronization += 1;
        do sequence.push(SYNCHRONIZATION);
        while (repeat !== undefined && repeat.random.uniform() <= repeat.probability);
      }
      sequence.push(list[item] ?? 0);
    };
    let pick = 0;
    while (pick < list.length) {
      const isDisordered = disorder < events.disorders.length && events.disorders.at(disorder) === offset + pick;
      if (!isDisordered) {
        push(pick, pick);
        pick += 1;
        continue;
      }
      const { region, next } = regionAt(component, events, gpu, disorder);
      disorder = next;
      for (const item of region?.items ?? [pick]) {
        push(pick, item);
        pick += 1;
      }
    }
    return sequence;
  });
}
