import type { Component } from "./component.js";
import type { Region, RoundEvents } from "./events.js";

/** What a GPU does in a part of a round: the collectives that it submits, in stretches between synchronizations. */
export interface WindowGpu {
  readonly gpu: number;
  readonly segments: readonly (readonly number[])[];
}

/** Collectives `from` to `to`, and every GPU that synchronizes between two of them. */
export interface Window {
  readonly from: number;
  readonly to: number;
  readonly gpus: readonly WindowGpu[];
}

/** Regions whose collectives overlap, and the range of these. */
export interface Cluster {
  from: number;
  to: number;
  readonly regions: Region[];
}

/**
 * Parts of a round that can deadlock independently. In the dependency graph a collective waits for a later one of the common
 * order only because of a region with a synchronization inside. What goes round in a circle must come down as far as it
 * went up, so all collectives of a cycle lie in the range of one cluster of overlapping regions.
 */
export function clustersOf(component: Component, regions: readonly Region[]): readonly Cluster[] {
  const ranges = regions.map((region): Cluster => {
    const list = component.lists[region.gpu];
    return { from: list?.[region.first] ?? 0, to: list?.[region.last] ?? 0, regions: [region] };
  });
  ranges.sort((a, b) => a.from - b.from);
  const clusters: Cluster[] = [];
  for (const range of ranges) {
    const last = clusters.at(-1);
    if (last !== undefined && range.from <= last.to) {
      last.to = Math.max(last.to, range.to);
      last.regions.push(...range.regions);
    } else {
      clusters.push(range);
    }
  }
  return clusters;
}

/**
 * What the GPUs do with a cluster's collectives. GPUs that don't synchronize between them hold nobody up and are left out.
 * @param synchronizesAlways - of the single-queue model, in which each submission waits for the one before.
 */
export function windowOf(component: Component, events: RoundEvents, cluster: Cluster, synchronizesAlways: boolean): Window {
  const gpus: WindowGpu[] = [];
  component.lists.forEach((list, gpu) => {
    const first = lowerBound(list, cluster.from);
    const last = lowerBound(list, cluster.to + 1) - 1;
    if (last <= first) return;
    const offset = component.offsets[gpu] ?? 0;
    const { synchronizations } = events;
    const begin = synchronizations.lowerBound(offset + first + 1);
    if (!synchronizesAlways && !(begin < synchronizations.length && synchronizations.at(begin) <= offset + last)) return;

    const own = cluster.regions.filter((region) => region.gpu === gpu);
    const segments: number[][] = [[]];
    let nextSynchronization = begin;
    for (let pick = first; pick <= last; pick += 1) {
      const isSynchronized = nextSynchronization < synchronizations.length && synchronizations.at(nextSynchronization) === offset + pick;
      if (isSynchronized) nextSynchronization += 1;
      if (pick > first && (synchronizesAlways || isSynchronized)) segments.push([]);
      const region = own.find((candidate) => candidate.first <= pick && pick <= candidate.last);
      // A region without a synchronization inside reorders within one segment, which changes nothing.
      const item = region === undefined ? pick : (region.items[pick - region.first] ?? pick);
      segments.at(-1)?.push(list[item] ?? 0);
    }
    gpus.push({ gpu, segments });
  });
  return { from: cluster.from, to: cluster.to, gpus };
}

function lowerBound(list: Int32Array, value: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
