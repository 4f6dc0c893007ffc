import type { Cut } from "../models/parameter.js";

/** One array of a rank's state: a parameter, or what the optimizer keeps for one. */
export interface StateEntry {
  readonly name: string;
  /** Of the whole; the rank may hold a part. */
  readonly shape: readonly number[];
  readonly cut?: Cut | undefined;
  /** Numbers that this rank holds. */
  readonly length: number;
}

/** A state board as it is handed to another thread. */
export interface StateMemory {
  readonly entries: readonly StateEntry[];
  /** Two steps, the one before the last and the last, in the order step % 2. */
  readonly steps: Int32Array<SharedArrayBuffer>;
  readonly values: readonly [Float32Array<SharedArrayBuffer>, Float32Array<SharedArrayBuffer>];
}

const never = -1;

/**
 * A rank's state after its last two steps, in shared memory: it can still be read when the rank has died, even in the middle of
 * writing. Two steps, because ranks that work together can be one step apart, and no more.
 */
export class StateBoard {
  readonly memory: StateMemory;

  constructor(entries: readonly StateEntry[]) {
    const length = entries.reduce((sum, entry) => sum + entry.length, 0);
    const floats = (): Float32Array<SharedArrayBuffer> => new Float32Array(new SharedArrayBuffer(4 * length));
    const steps = new Int32Array(new SharedArrayBuffer(8)).fill(never);
    this.memory = { entries, steps, values: [floats(), floats()] };
  }

  /** Notes the state after so many steps. @param arrays - in the order of the entries. */
  publish(step: number, arrays: readonly Float32Array[]): void {
    const { steps, values } = this.memory;
    const slot = step % 2;
    Atomics.store(steps, slot, never);
    let at = 0;
    for (const array of arrays) {
      values[slot]?.set(array, at);
      at += array.length;
    }
    Atomics.store(steps, slot, step);
  }
}

/** Steps whose state is whole on this board. */
export function stepsOn({ steps }: StateMemory): number[] {
  return [Atomics.load(steps, 0), Atomics.load(steps, 1)].filter((step) => step !== never);
}

/** The arrays after a step. @pre the board has it, and nobody writes to it. */
export function readState({ entries, values }: StateMemory, step: number): Float32Array[] {
  const slot = values[step % 2];
  let at = 0;
  return entries.map(({ length }) => {
    at += length;
    return (slot ?? new Float32Array(0)).slice(at - length, at);
  });
}
