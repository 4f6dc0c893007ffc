import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { readSection } from "../../src/report/read-section.js";
import { perfReport } from "./result-files.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-sections-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(report: unknown): string {
  const path = join(folder, "result.json");
  writeFileSync(path, JSON.stringify(report));
  return path;
}

it("reads what was measured", () => {
  expect(readSection(file(perfReport), "one").charts.length).toBeGreaterThan(0);
});

it.each([
  ["a run that failed", { errors: ["The backend nccl is missing."] }, /has no result: error: The backend nccl is missing\./],
  ["a run that measured nothing", { errors: [], dfccl: { ...perfReport.dfccl, refusals: [] } }, /has no result\. Measure again\./],
])("refuses the file of %s, whose page would be empty", (_, changes, message) => {
  expect(() => readSection(file({ ...perfReport, results: [], ...changes }), "one")).toThrow(message);
});
