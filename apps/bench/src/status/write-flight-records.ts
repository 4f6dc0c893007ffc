import { join } from "node:path";
import { flightRecordOf, type WorldStatus, writeFlightRecord } from "@dfccl/core";

/** Writes `folder`/JOB/rank_0, rank_1, … of every world. @returns The folders of the worlds. */
export function writeFlightRecords(worlds: readonly WorldStatus[], folder: string): readonly string[] {
  const now = Date.now() * 1e6;
  return worlds.map((world) => {
    const ofWorld = join(folder, encodeURIComponent(world.job));
    for (const { rank } of world.ranks) writeFlightRecord(join(ofWorld, `rank_${rank}`), flightRecordOf(world, rank, now));
    return ofWorld;
  });
}
