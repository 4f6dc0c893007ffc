import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WorldStatus } from "@dfccl/core";
import { flightRecordOf } from "./flight-record.js";

/** Writes `folder`/JOB/rank_0, rank_1, … of every world. @returns The folders of the worlds. */
export function writeFlightRecords(worlds: readonly WorldStatus[], folder: string): readonly string[] {
  const now = Date.now() * 1e6;
  return worlds.map((world) => {
    const ofWorld = join(folder, encodeURIComponent(world.job));
    mkdirSync(ofWorld, { recursive: true });
    for (const { rank } of world.ranks)
      writeFileSync(join(ofWorld, `rank_${rank}`), `${JSON.stringify(flightRecordOf(world, rank, now))}\n`);
    return ofWorld;
  });
}
