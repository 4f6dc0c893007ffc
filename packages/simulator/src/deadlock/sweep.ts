import type { Component } from "./component.js";
import type { IntList } from "./events.js";
import { SYNCHRONIZATION } from "./sequences.js";

/**
 * How to tell a deadlock of the synchronization model, each time a GPU suspends.
 * `cycle`: the dependency graph has one. `intersection`: the shortcut of the authors' public code: something that executes on
 * the GPU waits for some suspended GPU, and something waits for the GPU that executes on some suspended GPU. These may be two
 * different ones, and neither need be part of a circle, so it also reports chains, which resolve.
 */
export type Detection = "cycle" | "intersection";

const nowhere = -1;

/**
 * Simulates every action of a component's round, as the paper's text and the public code do: sweeps over the GPUs, one
 * action each; suspended and finished GPUs pass. It takes time in proportion to the submissions, and exists to check
 * {@link RoundSimulator} and to count what the shortcut says, which depends on the GPUs' relative speed.
 */
export class Sweep {
  readonly #component: Component;
  // `#placeOf[gpu · collectives + collective]`: when the GPU submits it, as an index into its sequence; #nowhere if never.
  readonly #placeOf: Int32Array;
  readonly #executing: Int32Array;
  readonly #groupSize: Int32Array;

  constructor(component: Component) {
    this.#component = component;
    this.#placeOf = new Int32Array(component.lists.length * component.groupOf.length).fill(nowhere);
    this.#executing = new Int32Array(component.groupOf.length);
    this.#groupSize = Int32Array.from(component.members, (members) => members.length);
  }

  /** Whether a round of the synchronization model is said to deadlock. */
  deadlocks(sequences: readonly IntList[], detection: Detection): boolean {
    const { groupOf, members } = this.#component;
    const gpuCount = sequences.length;
    const executing = this.#executing.fill(0); // per collective: GPUs that execute it
    const next = new Int32Array(gpuCount); // per GPU: its next action
    const unfinished = new Int32Array(gpuCount); // per GPU: executing collectives that aren't successful
    const oldest = new Int32Array(gpuCount); // per GPU: before this action, all are successful
    const isSuspended = new Uint8Array(gpuCount);
    this.#notePlaces(sequences);

    const isDone = (collective: number): boolean => executing[collective] === this.#groupSize[groupOf[collective] ?? 0];
    // Whether something executing on `holder` waits for `waiting` to invoke it.
    const holdsFor = (holder: number, waiting: number): boolean => {
      const sequence = sequences[holder];
      if (sequence === undefined) return false;
      for (let i = oldest[holder] ?? 0; i < (next[holder] ?? 0); i += 1) {
        const collective = sequence.at(i);
        if (collective !== SYNCHRONIZATION && !isDone(collective) && this.#place(waiting, collective) >= (next[waiting] ?? 0)) return true;
      }
      return false;
    };
    const others = (gpu: number): number[] => Array.from(isSuspended.keys()).filter((other) => other !== gpu && isSuspended[other] === 1);
    const intersects = (gpu: number): boolean => {
      const suspended = others(gpu);
      return suspended.some((other) => holdsFor(gpu, other)) && suspended.some((other) => holdsFor(other, gpu));
    };
    // A cycle of parts is one of suspended GPUs, because what isn't executing there waits for everything that is.
    const reachesItself = (gpu: number): boolean => {
      const seen = new Set<number>();
      const toVisit = [gpu];
      for (let at = toVisit.pop(); at !== undefined; at = toVisit.pop()) {
        for (const other of isSuspended.keys()) {
          if (isSuspended[other] !== 1 || other === at || seen.has(other) || !holdsFor(at, other)) continue;
          if (other === gpu) return true;
          seen.add(other);
          toVisit.push(other);
        }
      }
      return false;
    };

    for (let moved = true; moved; ) {
      moved = false;
      for (let gpu = 0; gpu < gpuCount; gpu += 1) {
        const sequence = sequences[gpu];
        const at = next[gpu] ?? 0;
        if (sequence === undefined || isSuspended[gpu] === 1 || at >= sequence.length) continue;
        moved = true;
        next[gpu] = at + 1;
        const collective = sequence.at(at);
        if (collective === SYNCHRONIZATION) {
          while ((oldest[gpu] ?? 0) <= at && this.#isPast(sequence.at(oldest[gpu] ?? 0), isDone)) oldest[gpu] = (oldest[gpu] ?? 0) + 1;
          if (unfinished[gpu] === 0) continue;
          isSuspended[gpu] = 1;
          if (detection === "cycle" ? reachesItself(gpu) : intersects(gpu)) return true;
          continue;
        }
        const group = groupOf[collective] ?? 0;
        const count = (executing[collective] ?? 0) + 1;
        executing[collective] = count;
        unfinished[gpu] = (unfinished[gpu] ?? 0) + 1;
        if (count !== this.#groupSize[group]) continue;
        for (const member of members[group] ?? []) {
          const left = (unfinished[member] ?? 0) - 1;
          unfinished[member] = left;
          if (left === 0) isSuspended[member] = 0;
        }
      }
    }
    // With every action taken the round is over; a GPU that is still suspended never found its cycle, which can't be.
    return isSuspended.includes(1);
  }

  #place(gpu: number, collective: number): number {
    return this.#placeOf[gpu * this.#component.groupOf.length + collective] ?? nowhere;
  }

  #isPast(action: number, isDone: (collective: number) => boolean): boolean {
    return action === SYNCHRONIZATION || isDone(action);
  }

  #notePlaces(sequences: readonly IntList[]): void {
    const collectives = this.#component.groupOf.length;
    sequences.forEach((sequence, gpu) => {
      for (let i = 0; i < sequence.length; i += 1) {
        const collective = sequence.at(i);
        if (collective !== SYNCHRONIZATION) this.#placeOf[gpu * collectives + collective] = i;
      }
    });
  }
}
