import type { DeadlockConfig } from "./config.js";
import { addTallies, emptyTallies, type ReplayTallies, replayComponent, replayDeadlock, replayKinds } from "./replay-deadlock.js";
import { PlainSimulator } from "./simulate-plainly.js";
import { RoundSimulator } from "./simulate-round.js";

/** Rounds `from` to `to` - 1, of which every result depends on the configuration, the seed and the round only. */
export interface Chunk {
  readonly config: DeadlockConfig;
  readonly seed: number;
  readonly from: number;
  readonly to: number;
  /**
   * What to do with them: count cycles, count what the shortcut of the public code reports, or run everything that the GPUs
   * of a component do again on daemons.
   */
  readonly task: "cycle" | "intersection" | "replay";
  /** Deadlocked rounds of which to run what leads to the deadlock again on daemons, at most. */
  readonly replays: number;
  /** Rounds to name, at most so many that deadlock, and so many that don't. */
  readonly named: number;
  /** Replay without preemption and without the quit as well. */
  readonly hasControls: boolean;
}

export interface ChunkResult {
  readonly rounds: number;
  readonly deadlocks: number;
  /** The first ones. */
  readonly deadlocked: readonly number[];
  readonly calm: readonly number[];
  readonly replays: ReplayTallies;
  readonly whole: WholeReplays;
}

/** What became of everything that the GPUs of a component did in a round, on daemons. */
export interface WholeReplays {
  readonly deadlocked: ReplayTallies;
  /** Of rounds that didn't deadlock. Without preemption these complete too, if there is one queue. */
  readonly calm: ReplayTallies;
}

export function emptyWholeReplays(): WholeReplays {
  return { deadlocked: emptyTallies(), calm: emptyTallies() };
}

/** Adds up in place. */
export function addWholeReplays(sum: WholeReplays, more: WholeReplays): void {
  addTallies(sum.deadlocked, more.deadlocked);
  addTallies(sum.calm, more.calm);
}

export function simulateChunk(chunk: Chunk): ChunkResult {
  const { task, from, to } = chunk;
  const result = { rounds: to - from, deadlocks: 0, deadlocked: [], calm: [], replays: emptyTallies(), whole: emptyWholeReplays() };
  switch (task) {
    case "cycle":
      return { ...result, ...countCycles(chunk) };
    case "intersection":
      return { ...result, deadlocks: countIntersections(chunk) };
    case "replay":
      return { ...result, whole: replayRounds(chunk) };
  }
}

function countCycles({ config, seed, from, to, replays, named }: Chunk): Omit<ChunkResult, "rounds" | "whole"> {
  const simulator = new RoundSimulator(config, seed);
  const [deadlocked, calm]: [number[], number[]] = [[], []];
  const tallies = emptyTallies();
  let deadlocks = 0;
  for (let round = from; round < to; round += 1) {
    const found = simulator.simulate(round);
    const names = found === undefined ? calm : deadlocked;
    if (names.length < named) names.push(round);
    if (found === undefined) continue;
    deadlocks += 1;
    if (tallies["preemption and quit"].replayed < replays) addTallies(tallies, replayDeadlock(config, found, seed, round));
  }
  return { deadlocks, deadlocked, calm, replays: tallies };
}

function countIntersections({ config, seed, from, to }: Chunk): number {
  const plain = new PlainSimulator(config, seed);
  let deadlocks = 0;
  for (let round = from; round < to; round += 1) deadlocks += plain.deadlocks(round, "intersection") ? 1 : 0;
  return deadlocks;
}

// Controls of longer rounds are left out: it takes daemons that hold everything in their queues long to come to rest.
const mostActionsOfControl = 30_000;

function replayRounds({ config, seed, from, to, hasControls }: Chunk): WholeReplays {
  const whole = emptyWholeReplays();
  const simulator = new RoundSimulator(config, seed);
  for (let round = from; round < to; round += 1) {
    const found = simulator.simulate(round);
    const sequences = found === undefined ? simulator.sequencesOf(round) : found.sequences();
    const actions = sequences.reduce((sum, { length }) => sum + length, 0);
    const kinds = replayKinds.filter((kind) => {
      if (kind === "preemption and quit") return true;
      if (!hasControls || actions > mostActionsOfControl) return false;
      if (kind === "quit off") return found !== undefined && config.model === "synchronization";
      // Daemons without preemption have one queue a GPU: with many queues they deadlock more often than the model.
      return found !== undefined || config.model === "single-queue";
    });
    addTallies(found === undefined ? whole.calm : whole.deadlocked, replayComponent(sequences, kinds, seed, round));
  }
  return whole;
}
