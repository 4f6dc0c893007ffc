import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FlightRecord, WorldStatus } from "@dfccl/core";
import { afterAll, expect, it } from "vitest";
import { metricsOf } from "../../src/status/metrics.js";
import { writeFlightRecords } from "../../src/status/write-flight-records.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-jobs-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What one of two machines of a job on this host sees: its own rank has submitted two runs, and of the other's it has heard of one. */
function seenFrom(own: number): WorldStatus {
  const rankOf = (rank: number) => ({ rank, pid: rank === own ? 1000 + rank : 0, presence: "joined" as const });
  const memberOf = (rank: number) => ({ rank, registered: true, left: false, submitted: rank === own ? 2 : 1, finished: 0, waitingMs: 0 });
  const collective = { id: 7, name: "all-reduce 7", collective: "all-reduce", dataType: "float32", count: 10, aborted: false } as const;
  const collectives = [{ ...collective, members: [memberOf(0), memberOf(1)] }];
  return { job: "training", version: "0.0.0", memoryBytes: 100 + own, ranks: [rankOf(0), rankOf(1)], collectives };
}

const worlds = [seenFrom(0), seenFrom(1)];

it("metrics have each rank of a job once, as its own machine knows it", () => {
  const samples = metricsOf(worlds)
    .split("\n")
    .filter((line) => line.startsWith("dfccl_"));
  const names = samples.map((line) => line.slice(0, line.lastIndexOf(" ")));
  expect(new Set(names).size).toBe(names.length);
  for (const rank of [0, 1]) expect(samples).toContain(`dfccl_runs_in_flight{job_name="training",rank="${rank}"} 2`);
  expect(samples).toContain('dfccl_shared_memory_bytes{job_name="training"} 201');
});

it("flight records are of what each rank's own machine knows of it", () => {
  expect(writeFlightRecords(worlds, folder)).toEqual([join(folder, "training")]);
  for (const rank of [0, 1]) {
    const record = JSON.parse(readFileSync(join(folder, "training", `rank_${rank}`), "utf8")) as FlightRecord;
    expect(record.pg_status["id 7"]?.last_enqueued_collective).toBe(2);
  }
  expect(existsSync(join(folder, "training", "rank_2"))).toBe(false);
});
