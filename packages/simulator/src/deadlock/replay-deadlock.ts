import { type SchedulePolicy, simulationPolicy } from "@dfccl/scheduler";
import type { DeadlockConfig } from "./config.js";
import type { IntList } from "./events.js";
import { RandomStream } from "./random-stream.js";
import { replay } from "./replay.js";
import { SYNCHRONIZATION } from "./sequences.js";
import type { FoundDeadlock } from "./simulate-round.js";

/** What became of deadlocked rounds on daemons, under one set of rules. */
export interface ReplayTally {
  replayed: number;
  finished: number;
  preemptions: number;
  quits: number;
}

export const replayKinds = ["preemption and quit", "preemption off", "quit off"] as const;
export type ReplayKind = (typeof replayKinds)[number];
export type ReplayTallies = Record<ReplayKind, ReplayTally>;

// Visits instead of nanoseconds: a visit of one GPU is a tick here.
const stickiness = { maximumThreshold: 128 };
const quit = { idleVisits: 300, idleTicks: 0, residencyTicks: 20_000 };

const policies: Readonly<Record<ReplayKind, SchedulePolicy>> = {
  "preemption and quit": simulationPolicy("adaptive", { stickiness, quit }),
  "preemption off": simulationPolicy("in-order", { streams: 1, stickiness, quit: { ...quit, kind: "voluntary" } }),
  "quit off": simulationPolicy("adaptive", { stickiness, quit: { ...quit, kind: "whenEmpty" } }),
};

// Daemons are simulated visit by visit.
const mostActions = 500;

export function emptyTallies(): ReplayTallies {
  const empty = (): ReplayTally => ({ replayed: 0, finished: 0, preemptions: 0, quits: 0 });
  return { "preemption and quit": empty(), "preemption off": empty(), "quit off": empty() };
}

/** Adds up in place. */
export function addTallies(sum: ReplayTallies, more: ReplayTallies): void {
  for (const kind of replayKinds) {
    for (const field of ["replayed", "finished", "preemptions", "quits"] as const) sum[kind][field] += more[kind][field];
  }
}

/**
 * Runs the part of a round that deadlocked on daemons: with preemption and voluntary quit, and as controls without one of
 * them. Not run again where the part is long, as it is if lists go group by group and a GPU mixes two groups up. Leaving out
 * the quit is no control in the single-queue model, where nothing synchronizes.
 */
export function replayDeadlock(config: DeadlockConfig, found: FoundDeadlock, seed: number, round: number): ReplayTallies {
  const sequences = sequencesAround(found);
  if (sequences.reduce((sum, sequence) => sum + sequence.length, 0) > mostActions) return emptyTallies();
  const kinds = replayKinds.filter((kind) => kind !== "quit off" || config.model === "synchronization");
  return replayAll(sequences, kinds, seed, round);
}

/**
 * Runs everything that the GPUs of a component do in a round on daemons.
 * @param kinds - without the quit, a large component takes long to come to rest.
 */
export function replayComponent(sequences: readonly IntList[], kinds: readonly ReplayKind[], seed: number, round: number): ReplayTallies {
  const whole = sequences.map((sequence) => Array.from({ length: sequence.length }, (_, i) => sequence.at(i)));
  return replayAll(whole, kinds, seed, round);
}

function replayAll(sequences: readonly (readonly number[])[], kinds: readonly ReplayKind[], seed: number, round: number): ReplayTallies {
  const tallies = emptyTallies();
  for (const kind of kinds) {
    const outcome = replay({ sequences, policy: policies[kind], random: new RandomStream().seed(seed, round, -1) });
    tallies[kind] = { replayed: 1, finished: outcome.finished ? 1 : 0, preemptions: outcome.preemptions, quits: outcome.quits };
  }
  return tallies;
}

/** What every GPU of the component does with the window's collectives; GPUs that don't synchronize in between included. */
function sequencesAround({ component, window }: FoundDeadlock): readonly (readonly number[])[] {
  return component.lists
    .map((list, gpu) => {
      const own = window.gpus.find((candidate) => candidate.gpu === gpu);
      if (own === undefined) return Array.from(list.filter((collective) => collective >= window.from && collective <= window.to));
      return own.segments.flatMap((segment, i) => (i === 0 ? segment : [SYNCHRONIZATION, ...segment]));
    })
    .filter((sequence) => sequence.length > 0);
}
