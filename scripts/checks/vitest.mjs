// All TypeScript tests of all packages, counted from vitest's own report.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory } from "../lib/paths.mjs";
import { run } from "../lib/run.mjs";

export async function typescriptTests() {
  const report = join(cacheDirectory, "vitest.json");
  rmSync(report, { force: true });
  const { code, output } = await run(["vitest", "run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`], {
    log: "vitest",
    timeoutMs: 2_700_000, // a third of it in a good hour; what else runs beside it has taken as much again
    env: { NO_COLOR: "1" },
  });
  const result = readReport(report);
  if (!result) return { failed: 1, details: output };
  const { numPassedTests: passed, numFailedTests, numPendingTests = 0, numTodoTests = 0, testResults = [] } = result;
  // A file that doesn't load has no tests to fail, and vitest's exit code may be its only trace.
  const brokenFiles = testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0).length;
  const failed = numFailedTests + brokenFiles;
  return { passed, failed: code !== 0 && failed === 0 ? 1 : failed, skipped: numPendingTests + numTodoTests, details: output };
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}
