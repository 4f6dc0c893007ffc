import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** A folder of this test file's own. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "dfccl-train-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}
