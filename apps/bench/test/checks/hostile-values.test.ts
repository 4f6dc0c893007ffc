import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { testHostileValues } from "../../../../scripts/lib/hostile-values.js";
import * as exported from "../../src/index.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-hostile-"));
afterAll(() => rmSync(folder, { recursive: true }));
const table = join(folder, "programs.json");
writeFileSync(table, JSON.stringify({ schemaVersion: 1, machine: {}, savedAt: "", rules: [] }));

const workload = (): exported.Workload => ({ name: "small", tensors: [{ name: "w", elements: 4 }] });
const options = (): exported.DisorderOptions => ({
  ...{ workload: workload(), ranks: 2, iterations: 1, order: "same", sync: 0, seed: 1 },
  ...{ policy: "default", backend: "cpu" },
});
const context = () => ({ signal: new AbortController().signal, progress: { update: () => {}, end: () => {} } });
const cycle = () => [
  { rank: 0, id: 0, run: 0, state: "executing", tensor: "v" },
  { rank: 1, id: 1, run: 0, state: "not submitted", tensor: "w" },
];

testHostileValues(
  exported,
  {
    describeCycle: () => [cycle()],
    runControl: () => [options(), context()],
    runDisorder: () => [options(), context()],
    loadProgramTable: () => [table],
    loadWorkload: () => ["resnet50"],
    elementsOf: () => [workload()],
    scaled: () => [workload(), 0.5],
  },
  { throwing: true, depth: 3 },
);
