import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type FlightRecord, inspectWorlds, type WorldStatus } from "@dfccl/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { serveMetrics } from "../../src/status/serve-metrics.js";
import { runCommand } from "./run-command.js";

// Rank 1 submits nothing of the second collective, so rank 0 waits for it.
const program = `
import { joinWorld } from "@dfccl/core";
const rank = await joinWorld();
const x = rank.allocate("float32", 10);
const [first, second] = [4, 5].map((id) => rank.register({ id, collective: "all-reduce", dataType: "float32", count: 10 }));
await first.run(x, x);
const waiting = rank.number === 0 ? second.run(x, x) : new Promise((resolve) => setTimeout(resolve, 100_000));
waiting.catch(() => {});
console.log("there");
setInterval(() => {}, 1000);
`;
const here = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(here, ".status-"));
const job = `status-${randomUUID()}`;
const ranks: ChildProcess[] = [];

beforeAll(async () => {
  writeFileSync(join(folder, "program.mjs"), program);
  for (const rank of [0, 1]) {
    const env = { ...process.env, DFCCL_RANK: `${rank}`, DFCCL_WORLD_SIZE: "2", DFCCL_JOB: job };
    ranks.push(spawn(process.execPath, [join(folder, "program.mjs")], { env, stdio: ["ignore", "pipe", "inherit"] }));
  }
  await Promise.all(ranks.map(({ stdout }) => stdout && once(stdout, "data")));
}, 30_000);

afterAll(async () => {
  for (const child of ranks) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "close");
    }
  }
  rmSync(folder, { recursive: true });
});

/** What `dfccl status --json` says of this job, once it says what is looked for. */
async function statusOnce(isIt: (world: WorldStatus) => boolean): Promise<WorldStatus> {
  for (;;) {
    const { stdout } = await runCommand(["status", "--json"]);
    const world = (JSON.parse(stdout) as WorldStatus[]).find((one) => one.job === job);
    if (world !== undefined && isIt(world)) return world;
  }
}

it("tells who is in a world, what is in flight, and who waits for whom", { timeout: 40_000 }, async () => {
  const world = await statusOnce(({ collectives }) => collectives.some(({ id, members }) => id === 5 && (members[0]?.waitingMs ?? 0) > 0));
  expect(world.ranks).toEqual(ranks.map(({ pid }, rank) => ({ rank, pid, presence: "joined" })));
  expect(world.collectives.map(({ id }) => id).sort()).toEqual([4, 5]);
  expect(world.collectives.find(({ id }) => id === 4)).toMatchObject({ members: [{ finished: 1 }, { finished: 1 }] });
  const { stdout } = await runCommand(["status"]);
  expect(stdout).toContain(`${job}: 2 ranks, 2 collectives`);
  expect(stdout).toMatch(/all-reduce 5, run 0, for [\d.]+ m?s: waits for rank 1,\s+which\s+hasn't\s+submitted\s+it/);
});

it("gives the same as metrics", { timeout: 40_000 }, async () => {
  const { stdout } = await runCommand(["status", "--metrics"]);
  expect(stdout).toContain(`dfccl_rank_up{job_name="${job}",rank="1"} 1\n`);
  expect(stdout).toContain(`dfccl_runs_in_flight{job_name="${job}",rank="0"} 1\n`);
  expect(stdout).toContain(`dfccl_runs_finished_total{job_name="${job}",rank="1"} 1\n`);
});

it("serves the metrics on request, to this machine only", { timeout: 40_000 }, async () => {
  await using server = await serveMetrics(inspectWorlds, "127.0.0.1", 0);
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  expect(await (await fetch(server.url)).text()).toContain(`dfccl_rank_up{job_name="${job}",rank="1"} 1\n`);
  expect((await fetch(server.url.replace("metrics", "secrets"))).status).toBe(404);
  const { port } = new URL(server.url);
  await expect(serveMetrics(inspectWorlds, "127.0.0.1", Number(port))).rejects.toThrow(
    /can't be served on 127\.0\.0\.1:\d+ .*Name a free port/s,
  );
  const { code, stderr } = await runCommand(["status", "--listen", "nowhere"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("It must be a port")]);
});

it("refuses to write records and print something else instead of saying so", async () => {
  const records = join(folder, "not-written");
  for (const instead of ["--json", "--metrics"]) {
    const { code, stdout, stderr } = await runCommand(["status", instead, "--flight-record", records]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("cannot be used with option");
  }
});

it("records each rank's runs as PyTorch's flight recorder does", { timeout: 40_000 }, async () => {
  const records = join(folder, "records");
  const { stdout } = await runCommand(["status", "--flight-record", records]);
  expect(stdout).toContain(`Wrote ${join(records, job)}\n`);
  const [waiting, missing] = [0, 1].map((rank) => JSON.parse(readFileSync(join(records, job, `rank_${rank}`), "utf8")) as FlightRecord);
  const seen = (record?: FlightRecord): unknown => record?.entries.map((e) => [e.process_group[0], e.collective_seq_id, e.state]).sort();
  expect(seen(waiting)).toEqual([
    ["id 4", 1, "completed"],
    ["id 5", 1, "started"],
  ]);
  expect(seen(missing)).toEqual([["id 4", 1, "completed"]]);
  expect(missing?.pg_config["id 5"]).toEqual({ name: "id 5", desc: "all-reduce 5", ranks: "[0,1]" });
  expect(waiting?.entries[0]).toMatchObject({ profiling_name: "nccl:all_reduce", input_sizes: [[10]], output_dtypes: ["Float"] });
  expect(waiting?.pg_status["id 5"]).toEqual({ last_enqueued_collective: 1, last_started_collective: 1, last_completed_collective: 0 });
});

it("names a rank that has died, and ends with 1; and has nothing to say of a world that nobody is in", { timeout: 40_000 }, async () => {
  ranks[1]?.kill("SIGKILL");
  await statusOnce(({ ranks: all }) => all[1]?.presence === "died");
  const { code, stdout } = await runCommand(["status"]);
  expect(stdout).toMatch(/1 +\d+ +died/);
  expect(code).toBe(1);
  ranks[0]?.kill("SIGKILL");
  if (ranks[0]) await once(ranks[0], "close");
  const { stdout: after } = await runCommand(["status", "--json"]);
  expect((JSON.parse(after) as WorldStatus[]).filter((one) => one.job === job)).toEqual([]);
});
