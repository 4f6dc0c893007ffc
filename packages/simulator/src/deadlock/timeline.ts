import { type CollectiveName, nameOf } from "./component.js";
import type { DeadlockConfig } from "./config.js";
import { findDeadlock } from "./find-deadlock.js";
import { SYNCHRONIZATION } from "./sequences.js";
import type { FoundDeadlock } from "./simulate-round.js";

/** A collective on one GPU. Times are in actions of a GPU. */
export interface TimelinePart {
  readonly collective: CollectiveName;
  /** One of those that wait for each other in a circle. */
  readonly isOfCycle: boolean;
  readonly invokedAt: number;
  /** Undefined: never. */
  readonly executingAt?: number;
  /** Undefined: never. */
  readonly successfulAt?: number;
}

export interface TimelineBarrier {
  readonly at: number;
  /** Undefined: the GPU waits there for ever. */
  readonly until?: number;
}

/** What a GPU does around a deadlock, in its own order. */
export interface TimelineGpu {
  readonly gpu: number;
  readonly parts: readonly TimelinePart[];
  /** Its synchronizations. */
  readonly barriers: readonly TimelineBarrier[];
}

/** Part of a round: what leads to its deadlock and follows from it, on the GPUs that take part in it. */
export interface DeadlockTimeline {
  readonly round: number;
  readonly model: DeadlockConfig["model"];
  readonly endAt: number;
  readonly gpus: readonly TimelineGpu[];
}

const mostGpus = 8;
// Entries of a GPU's list before and after those of the deadlock.
const context = 3;

/**
 * When GPUs invoke, execute and finish what leads to a deadlock, if all go at the same speed and begin together.
 * @throws {InvalidArgumentError} if the round doesn't deadlock.
 * @see DFCCL, section 2.4.1 and Fig. 2
 */
export function deadlockTimeline(config: DeadlockConfig, seed: number, round: number): DeadlockTimeline {
  const found = findDeadlock(config, seed, round);
  const { component, cycle, firstGpu } = found;
  const locals = gpusOf(found);
  const isSingleQueue = config.model === "single-queue";
  const played = play(
    locals.map((gpu) => actionsOf(found, gpu)),
    isSingleQueue,
  );
  const isOfCycle = new Set(cycle.map(({ collective }) => collective));
  return {
    round,
    model: config.model,
    endAt: played.endAt,
    gpus: locals.map((gpu, i) => ({
      gpu: firstGpu + (component.gpus[gpu] ?? 0),
      parts: (played.gpus[i]?.parts ?? []).map(({ collective, segment: _, ...times }) => ({
        collective: nameOf(component, collective),
        isOfCycle: isOfCycle.has(collective),
        ...times,
      })),
      barriers: isSingleQueue ? [] : (played.gpus[i]?.barriers ?? []),
    })),
  };
}

/** The GPUs of the circle, then others that take part in its collectives. */
function gpusOf({ component, cycle }: FoundDeadlock): readonly number[] {
  const others = cycle.flatMap(({ collective }) => Array.from(component.members[component.groupOf[collective] ?? 0] ?? []));
  return [...new Set([...cycle.map(({ gpu }) => gpu), ...others])].slice(0, Math.max(mostGpus, cycle.length));
}

/** What a GPU does around the window, in the collectives of the groups that the circle is of. */
function actionsOf(found: FoundDeadlock, gpu: number): readonly number[] {
  const { component, cycle, window } = found;
  const groups = new Set(cycle.map(({ collective }) => component.groupOf[collective]));
  const list = Array.from(component.lists[gpu] ?? []).filter((collective) => groups.has(component.groupOf[collective]));
  const first = list.findIndex((collective) => collective >= window.from);
  const last = list.findLastIndex((collective) => collective <= window.to);
  const shown = new Set(list.slice(Math.max(first - context, 0), last + 1 + context));
  const sequence = found.sequences()[gpu];
  const all = Array.from({ length: sequence?.length ?? 0 }, (_, i) => sequence?.at(i) ?? SYNCHRONIZATION);
  const from = all.findIndex((action) => shown.has(action));
  const to = all.findLastIndex((action) => shown.has(action));
  return all.slice(from, to + 1).filter((action) => action === SYNCHRONIZATION || shown.has(action));
}

interface PlayedPart {
  readonly collective: number;
  readonly segment: number;
  readonly invokedAt: number;
  executingAt?: number;
  successfulAt?: number;
}

interface PlayedGpu {
  readonly parts: PlayedPart[];
  readonly barriers: { readonly at: number; until?: number }[];
}

// Each GPU invokes one action a tick, and passes a barrier when all before it is successful. With one queue there is a barrier
// before each submission, which is no action.
function play(
  actions: readonly (readonly number[])[],
  isSingleQueue: boolean,
): { readonly gpus: readonly PlayedGpu[]; readonly endAt: number } {
  const gpus = actions.map((own): PlayedGpu => {
    const [parts, barriers]: [PlayedGpu["parts"], PlayedGpu["barriers"]] = [[], []];
    own.forEach((action, invokedAt) => {
      if (action === SYNCHRONIZATION || (isSingleQueue && invokedAt > 0)) barriers.push({ at: invokedAt });
      if (action !== SYNCHRONIZATION) parts.push({ collective: action, segment: barriers.length, invokedAt });
    });
    return { parts, barriers };
  });
  const partsOf = new Map<number, PlayedPart[]>();
  for (const part of gpus.flatMap(({ parts }) => parts)) partsOf.set(part.collective, [...(partsOf.get(part.collective) ?? []), part]);
  const passed = gpus.map(() => 0);
  const endAt = Math.max(...actions.map((own) => own.length)) + 2;
  for (let tick = 0; tick < endAt; tick += 1) {
    for (let moved = true; moved; ) {
      moved = false;
      gpus.forEach(({ parts, barriers }, gpu) => {
        const segment = passed[gpu] ?? 0;
        for (const part of parts) {
          if (part.executingAt !== undefined || part.invokedAt > tick || part.segment > segment) continue;
          part.executingAt = tick;
          moved = true;
          const all = partsOf.get(part.collective) ?? [];
          if (all.every(({ executingAt }) => executingAt !== undefined)) for (const each of all) each.successfulAt = tick + 1;
        }
        const barrier = barriers[segment];
        const isClear = parts.every((part) => part.segment > segment || (part.successfulAt ?? Number.POSITIVE_INFINITY) <= tick);
        if (barrier === undefined || barrier.at > tick || !isClear) return;
        barrier.until = tick;
        passed[gpu] = segment + 1;
        moved = true;
      });
    }
  }
  return { gpus, endAt };
}
