import { partOf, putPart } from "../models/parameter.js";
import { readState, type StateEntry, type StateMemory, stepsOn } from "./state-board.js";

/** The whole model after a step, however its parts were spread: parameters, and what the optimizer keeps for each. */
export interface ModelState {
  /** Steps done. */
  readonly step: number;
  readonly arrays: readonly { readonly name: string; readonly shape: readonly number[]; readonly values: Float32Array }[];
}

/** The latest step that all boards have, put together; undefined where there is none yet. */
export function gatherState(boards: readonly StateMemory[]): ModelState | undefined {
  const step = latestCommonStep(boards);
  if (step === undefined) return undefined;
  const arrays = new Map<string, ModelState["arrays"][number]>();
  for (const board of boards) {
    const values = readState(board, step);
    for (const [i, entry] of board.entries.entries()) place(arrays, entry, values[i] ?? new Float32Array(0));
  }
  return { step, arrays: [...arrays.values()] };
}

function latestCommonStep(boards: readonly StateMemory[]): number | undefined {
  const [first, ...others] = boards.map(stepsOn);
  const common = (first ?? []).filter((step) => others.every((steps) => steps.includes(step)));
  return common.length === 0 ? undefined : Math.max(...common);
}

function place(arrays: Map<string, ModelState["arrays"][number]>, { name, shape, cut }: StateEntry, part: Float32Array): void {
  if (cut === undefined) {
    if (!arrays.has(name)) arrays.set(name, { name, shape, values: part });
    return;
  }
  let whole = arrays.get(name);
  if (whole === undefined) {
    whole = { name, shape, values: new Float32Array(part.length * cut.parts) };
    arrays.set(name, whole);
  }
  putPart(whole.values, part, shape, cut);
}

/** What a rank holds of a state. @returns undefined where the state doesn't have it. */
export function partOfState({ arrays }: ModelState, { name, shape, cut }: Omit<StateEntry, "length">): Float32Array | undefined {
  const whole = arrays.find((array) => array.name === name);
  if (whole === undefined || whole.shape.join() !== shape.join()) return undefined;
  return cut === undefined ? whole.values : partOf(whole.values, shape, cut);
}
