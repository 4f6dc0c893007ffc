import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { FlightRecord } from "../../src/index.js";
import { launchers, type RankProcess, start } from "./processes.js";

const limit = 60_000;
const folder = mkdtempSync(join(tmpdir(), "dfccl-flight-"));
const ranks: RankProcess[] = [];

function begin(prefix: string): RankProcess[] {
  ranks.push(
    ...start(
      "flight",
      launchers.dfccl(2).map((env) => ({ ...env, DFCCL_FLIGHT_RECORD: prefix })),
    ),
  );
  return ranks;
}

afterEach(async () => {
  for (const { child } of ranks) child.kill("SIGKILL");
  for (const rank of ranks.splice(0)) await rank.ended();
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (path: string): FlightRecord => JSON.parse(readFileSync(path, "utf8")) as FlightRecord;

/** What PyTorch's analyzer asks of a record: tools/flight_recorder/components, loader.py, builder.py and types.py. */
function expectReadable(record: FlightRecord): void {
  expect(record.version).toMatch(/^\d+\.\d+$/);
  const groups = Object.entries(record.pg_config);
  for (const [name, group] of groups) {
    expect(group.name).toBe(name);
    expect(JSON.parse(group.ranks)).toEqual([0, 1]);
  }
  for (const entry of record.entries) {
    const [group, description] = entry.process_group;
    expect(record.pg_config[group]?.desc).toBe(description);
    expect(entry.profiling_name).toBe("nccl:all_reduce");
    expect(["scheduled", "started", "completed"]).toContain(entry.state);
    expect(entry.input_sizes).toEqual(entry.output_sizes);
    expect(entry.input_dtypes).toEqual(["Float"]);
    expect(entry.output_dtypes).toEqual(["Float"]);
    expect([entry.collective_seq_id, entry.p2p_seq_id, entry.is_p2p, entry.frames]).toEqual([1, 0, false, []]);
    expect(entry).toHaveProperty("time_created_ns");
  }
}

describe("the flight record of a joined rank", () => {
  it("is written by the first run that times out, and names the collective and the rank that is missing", { timeout: limit }, async () => {
    const prefix = join(folder, "timeout", "rank_");
    const [waiting] = begin(prefix);
    expect(await waiting?.told(2)).toEqual([
      { code: "TIMEOUT", missing: [1], flightRecord: `${prefix}0` },
      { code: "TIMEOUT", missing: [1], flightRecord: null },
    ]);
    expect(readdirSync(join(folder, "timeout"))).toEqual(["rank_0"]);
    const record = read(`${prefix}0`);
    expectReadable(record);
    expect(record.entries.find(({ state }) => state === "started")).toMatchObject({
      process_group: ["id 5", "all-reduce 5"],
      missing_ranks: [1],
    });
    expect(record.entries.find(({ state }) => state === "completed")).toMatchObject({
      process_group: ["id 4", "all-reduce 4"],
      missing_ranks: [],
    });
    expect(record.pg_status["id 5"]).toEqual({ last_enqueued_collective: 1, last_started_collective: 1, last_completed_collective: 0 });
  });

  it("is written on SIGUSR2, which ends nothing", { timeout: limit }, async () => {
    const prefix = join(folder, "signal", "rank_");
    const [, missing] = begin(prefix);
    await missing?.told(1);
    missing?.child.kill("SIGUSR2");
    expect(await missing?.told(2)).toEqual([{ ready: true }, { signalled: true }]);
    const record = read(`${prefix}1`);
    expectReadable(record);
    expect(record.entries.map(({ process_group, state }) => [process_group[0], state])).toEqual([["id 4", "completed"]]);
    expect(JSON.parse(record.pg_config["id 5"]?.ranks ?? "")).toEqual([0, 1]);
  });

  it("that can't be written is warned of, and the timeout stays what it is", { timeout: limit }, async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    const [waiting] = begin(join(file, "rank_"));
    expect(await waiting?.told(2)).toEqual([
      { code: "TIMEOUT", missing: [1], flightRecord: null },
      { code: "TIMEOUT", missing: [1], flightRecord: null },
    ]);
    waiting?.child.kill("SIGKILL");
    const { stderr } = (await waiting?.ended()) ?? { stderr: "" };
    expect(stderr).toMatch(/FlightRecordError: The flight record \S+\/file\/rank_0 can't be written: Not a directory\./);
    expect(stderr).toContain("Set DFCCL_FLIGHT_RECORD");
    expect(stderr.match(/FlightRecordError/g)).toHaveLength(1);
  });
});
