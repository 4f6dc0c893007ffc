import type { DeadlockConfig } from "./config.js";
import { addTallies, emptyTallies, type ReplayTallies, replayDeadlock } from "./replay-deadlock.js";
import { PlainSimulator } from "./simulate-plainly.js";
import { RoundSimulator } from "./simulate-round.js";

/** Rounds `from` to `to` - 1, of which every result depends on the configuration, the seed and the round only. */
export interface Chunk {
  readonly config: DeadlockConfig;
  readonly seed: number;
  readonly from: number;
  readonly to: number;
  /** What counts: cycles, or what the shortcut of the public code reports. */
  readonly detection: "cycle" | "intersection";
  /** Deadlocked rounds to run again on daemons, at most. */
  readonly replays: number;
}

export interface ChunkResult {
  readonly rounds: number;
  readonly deadlocks: number;
  /** The first deadlocked round. */
  readonly firstDeadlock?: number;
  readonly replays: ReplayTallies;
}

export function simulateChunk({ config, seed, from, to, detection, replays }: Chunk): ChunkResult {
  const tallies = emptyTallies();
  let [deadlocks, replayed] = [0, 0];
  let firstDeadlock: number | undefined;
  if (detection === "intersection") {
    const plain = new PlainSimulator(config, seed);
    for (let round = from; round < to; round += 1) deadlocks += plain.deadlocks(round, detection) ? 1 : 0;
    return { rounds: to - from, deadlocks, replays: tallies };
  }
  const simulator = new RoundSimulator(config, seed);
  for (let round = from; round < to; round += 1) {
    const found = simulator.simulate(round);
    if (found === undefined) continue;
    deadlocks += 1;
    firstDeadlock ??= round;
    if (replayed >= replays) continue;
    const more = replayDeadlock(config, found, seed, round);
    replayed += more["preemption and quit"].replayed;
    addTallies(tallies, more);
  }
  return { rounds: to - from, deadlocks, replays: tallies, ...(firstDeadlock === undefined ? {} : { firstDeadlock }) };
}
