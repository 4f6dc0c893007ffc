import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "./run-command.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-schedule-"));
afterAll(() => rmSync(folder, { recursive: true }));

const link = { alphaNs: 1000, gigabytesPerSecond: 10 };
const workload = {
  ranks: 4,
  topology: { ranksPerIsland: 4, island: link, network: link },
  collectives: Array(12).fill({ bytes: 100_000, atNs: 0 }),
  disorderProbability: 0.5,
};

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

describe("dfccl simulate schedule", () => {
  it("completes a workload in disorder, and exits with 0", async () => {
    const { code, stdout } = await runCommand(["simulate", "schedule", file("mine.json", workload)]);
    expect(stdout).toMatch(/collectives completed\s+12 of 12\n/);
    expect(stdout).toMatch(/outcome\s+all completed/);
    expect(code).toBe(0);
  });

  it("shows that the same workload deadlocks in order, and exits with 1", async () => {
    const { code, stdout } = await runCommand(["simulate", "schedule", file("in-order.json", { ...workload, policy: "in-order" })]);
    expect(stdout).toMatch(/outcome\s+deadlock/);
    expect(code).toBe(1);
  });

  it("prints figures, as text and as JSON", async () => {
    const { stdout } = await runCommand(["simulate", "schedule", "--preset", "priority"]);
    expect(stdout).toMatch(/order\s+iteration\s+not overlapped[\s\S]*fifo[\s\S]*priority/);
    const { code, stdout: json } = await runCommand(["simulate", "schedule", "--preset", "priority", "--json"]);
    expect(JSON.parse(json)).toMatchObject({ preset: "priority", rows: [{ policy: "fifo" }, { policy: "priority" }], partial: false });
    expect(code).toBe(0);
  });

  it("draws a workload's task queues over time, into a report and as SVG", async () => {
    const [report, drawings] = [join(folder, "report.html"), join(folder, "drawings")];
    const { code, stdout } = await runCommand([
      "simulate",
      "schedule",
      file("drawn.json", workload),
      "--report",
      report,
      "--svg",
      drawings,
    ]);
    expect(stdout).toContain(`Drawn in ${report}.`);
    expect(readFileSync(join(drawings, "task-queues.svg"), "utf8")).toMatch(
      /^<svg [^>]*role="img">\n<title>Task queues over time<\/title>/,
    );
    const html = readFileSync(report, "utf8");
    expect(html).toMatch(/<td>collectives completed<\/td><td>12 of 12<\/td>/);
    expect(/<(?:script|link|img)[^>]+(?:src|href)="(?!data:)/.test(html.replaceAll(/<script>[\s\S]*?<\/script>/g, ""))).toBe(false);
    expect(code).toBe(0);
  });

  it("interrupted, prints what it has of a large scale, as partial", async () => {
    const { code, stdout } = await runCommand(["simulate", "schedule", "--preset", "scale", "--gpus", "100000"], {
      when: ["Scale 0%", (child) => child.kill("SIGINT")],
    });
    expect(stdout).toMatch(/Interrupted: a partial result, of \d+ of \d+ simulations/);
    expect(code).toBe(130);
  });

  it.each([
    ["nothing", [], /Give a workload file or --preset/],
    ["a key that isn't known", [file("bad.json", { ...workload, speed: 1 })], /speed is 1: no such key/],
    ["a folder that is a file", ["--preset", "scale", "--svg", file("taken", 1)], /It must be a folder/],
    ["a folder where there can be none", ["--preset", "scale", "--svg", "/proc/nothing/here"], /It must be a folder/],
    [
      "a file of something else",
      ["--preset", "calibrate", "--measured", file("other.json", { a: 1 })],
      /rows is .*npm run bench:mpi -- --json FILE wrote/,
    ],
    ["more GPUs than are simulated", ["--preset", "scale", "--gpus", "1000000"], /whole number from 8 to 100000/],
    ["measurements that are none", ["--preset", "calibrate", "--measured", file("rows.json", { rows: [{}] })], /must have ranks, bytes/],
  ])("refuses %s", async (_, args, message) => {
    const { code, stderr } = await runCommand(["simulate", "schedule", ...args]);
    expect(stderr.replaceAll("\n", " ")).toMatch(message);
    expect(code).toBe(2);
  });
});
