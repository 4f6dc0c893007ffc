import type { Window } from "./window.js";

/** One step of a deadlock's cycle: `gpu` executes `collective`, which waits for the GPU of the next step to invoke it. */
export interface CycleStep {
  readonly gpu: number;
  readonly collective: number;
}

/**
 * Lets the GPUs of a window go on as long as one can, and finds the cycle if that is not to the end.
 *
 * A GPU executes all of a segment at once and enters the next when all it executes is successful; a collective is successful
 * when it executes on all its GPUs. Nothing that becomes possible ever becomes impossible, so neither the order in which
 * GPUs are looked at nor their speed matters: what gets stuck here gets stuck in every order.
 * @returns the cycle of the dependency graph, undefined where there is none.
 * @see DFCCL, section 2.4.1
 */
export function findCycle(window: Window): readonly CycleStep[] | undefined {
  const waiting = new Map<number, number>(); // collective → GPUs of the window that don't execute it yet
  for (const { segments } of window.gpus) {
    for (const collective of segments.flat()) waiting.set(collective, (waiting.get(collective) ?? 0) + 1);
  }
  const entered = window.gpus.map(() => 0);
  const enter = (segment: readonly number[] | undefined): void => {
    for (const collective of segment ?? []) waiting.set(collective, (waiting.get(collective) ?? 0) - 1);
  };
  for (const { segments } of window.gpus) enter(segments[0]);
  // What came before the segment that a GPU is in is successful: otherwise it wouldn't be there.
  const unfinished = (index: number): number | undefined =>
    window.gpus[index]?.segments[entered[index] ?? 0]?.find((collective) => (waiting.get(collective) ?? 0) > 0);

  let moved = true;
  while (moved) {
    moved = false;
    window.gpus.forEach(({ segments }, index) => {
      while ((entered[index] ?? 0) < segments.length - 1 && unfinished(index) === undefined) {
        entered[index] = (entered[index] ?? 0) + 1;
        enter(segments[entered[index] ?? 0]);
        moved = true;
      }
    });
  }
  const stuck = window.gpus.findIndex(({ segments }, index) => (entered[index] ?? 0) < segments.length - 1);
  return stuck < 0 ? undefined : walk(window, entered, unfinished, stuck);
}

// From a stuck GPU to the one that hasn't invoked what it executes, which is stuck too, until a GPU comes twice.
function walk(
  window: Window,
  entered: readonly number[],
  unfinished: (index: number) => number | undefined,
  start: number,
): readonly CycleStep[] {
  const steps: (CycleStep & { readonly index: number })[] = [];
  let index = start;
  for (;;) {
    const seen = steps.findIndex((step) => step.index === index);
    if (seen >= 0) return steps.slice(seen).map(({ gpu, collective }) => ({ gpu, collective }));
    const collective = unfinished(index) ?? -1;
    steps.push({ index, gpu: window.gpus[index]?.gpu ?? -1, collective });
    index = window.gpus.findIndex(({ segments }, other) =>
      segments.slice((entered[other] ?? 0) + 1).some((segment) => segment.includes(collective)),
    );
    if (index < 0) throw new RangeError(`collective ${collective} waits for nobody`);
  }
}
