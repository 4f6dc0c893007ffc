import { median } from "../peers/median.js";

/** What a contender's steps took, in milliseconds, by round. */
export type Rounds = readonly (readonly number[])[];

export interface Timing {
  readonly name: string;
  /** Of all steps. */
  readonly medianMs: number;
  /** Standard deviation over mean of all steps. */
  readonly variation: number;
  /** Steps a second, over all rounds. */
  readonly stepsPerSecond: number;
  readonly rounds: Rounds;
}

/**
 * Runs contenders in turns, a round of some steps each, beginning with another one in each round: what the machine does to one it
 * does to all.
 */
export async function interleave(
  contenders: readonly { readonly name: string; readonly step: () => Promise<void> }[],
  options: { readonly rounds: number; readonly steps: number; readonly signal: AbortSignal; readonly onStep: (name: string) => void },
): Promise<Timing[]> {
  const times = new Map(contenders.map(({ name }) => [name, [] as number[][]]));
  for (let round = 0; round < options.rounds; round += 1) {
    for (let turn = 0; turn < contenders.length; turn += 1) {
      const contender = contenders[(round + turn) % contenders.length];
      if (contender === undefined) continue;
      const took: number[] = [];
      for (let step = 0; step < options.steps; step += 1) {
        options.signal.throwIfAborted();
        const began = performance.now();
        await contender.step();
        took.push(performance.now() - began);
        options.onStep(contender.name);
      }
      times.get(contender.name)?.push(took);
    }
  }
  return [...times].map(([name, rounds]) => timingOf(name, rounds));
}

function timingOf(name: string, rounds: Rounds): Timing {
  const all = rounds.flat();
  const mean = all.reduce((sum, ms) => sum + ms, 0) / all.length;
  const variance = all.reduce((sum, ms) => sum + (ms - mean) ** 2, 0) / all.length;
  return { name, medianMs: median(all), variation: Math.sqrt(variance) / mean, stepsPerSecond: 1000 / mean, rounds };
}

/** Throughput of one against another: the median over the rounds of the ratio of their median steps. */
export function throughputOf(one: Timing, other: Timing): number {
  return median(one.rounds.map((round, index) => median(other.rounds[index] ?? []) / median(round)));
}
