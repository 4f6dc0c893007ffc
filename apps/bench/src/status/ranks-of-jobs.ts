import type { WorldStatus } from "@dfccl/core";

/** A rank of a job, and the world that knows most about it. */
export interface RankOfJob {
  readonly world: WorldStatus;
  readonly rank: number;
}

/**
 * Each rank of each job once. A job's containers on this host that count as machines are a world each under the same name: a rank is
 * taken from the one that its process is in.
 */
export function ranksOfJobs(worlds: readonly WorldStatus[]): readonly RankOfJob[] {
  const found = new Map<string, RankOfJob>();
  for (const world of worlds) {
    for (const { rank, pid } of world.ranks) {
      const key = `${rank} ${world.job}`;
      if (pid !== 0 || !found.has(key)) found.set(key, { world, rank });
    }
  }
  return [...found.values()];
}
