import { join } from "node:path";
import { flightRecordOf, type WorldStatus, writeFlightRecord } from "@dfccl/core";
import { ranksOfJobs } from "./ranks-of-jobs.js";

/** Writes `folder`/JOB/rank_0, rank_1, … of every job. @returns The folders of the jobs. */
export function writeFlightRecords(worlds: readonly WorldStatus[], folder: string): readonly string[] {
  const now = Date.now() * 1e6;
  const written = ranksOfJobs(worlds).map(({ world, rank }) => {
    const ofJob = join(folder, encodeURIComponent(world.job));
    writeFlightRecord(join(ofJob, `rank_${rank}`), flightRecordOf(world, rank, now));
    return ofJob;
  });
  return [...new Set(written)];
}
