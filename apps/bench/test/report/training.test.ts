import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { compareFiles, readSection } from "../../src/report/read-section.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-training-report-"));
afterAll(() => rmSync(folder, { recursive: true }));

function resultFile(schedule: string, samplesPerSecond: number): string {
  const path = join(folder, `${schedule}.json`);
  const run = { kind: "training", model: "mnist", ranks: 2, parallel: { dp: 2, tp: 1, pp: 1 }, steps: 3, seed: 1, globalBatch: 32 };
  const result = { optimizer: "momentum", learningRate: 0.02, losses: [2, 1.5, 1], stepMs: [40, 20], accuracy: 0.5 };
  writeFileSync(path, JSON.stringify({ ...run, ...result, schedule, samplesPerSecond }));
  return path;
}

describe("training runs in a report", () => {
  it("show their losses and their throughput", () => {
    const { title, charts } = readSection(resultFile("preemptive", 900), "s1");
    expect(title).toBe("Training mnist: preemptive, dp=2 tp=1 pp=1");
    expect(charts[0]?.series[0]?.points).toEqual([
      [1, 2],
      [2, 1.5],
      [3, 1],
    ]);
    expect(charts[1]?.series[0]?.points).toEqual([800, 800, 800]);
  });

  it("stand beside each other where there are several", () => {
    const [comparison, ...others] = compareFiles([resultFile("preemptive", 900), resultFile("coordinator", 700)]);
    expect(others).toEqual([]);
    expect(comparison?.charts[0]?.series[0]?.points).toEqual([900, 700]);
    expect(comparison?.charts[1]?.series.map(({ group }) => group)).toEqual(["preemptive", "coordinator"]);
    expect(compareFiles([resultFile("preemptive", 900)])).toEqual([]);
  });
});
