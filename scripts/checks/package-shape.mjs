// Each package as a user would get it: publint reads the tarball, are-the-types-wrong resolves its types.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../lib/run.mjs";
import { packAll } from "../pack-all.mjs";

export async function packageShape() {
  const folder = mkdtempSync(join(tmpdir(), "dfccl-shape-"));
  try {
    const sum = { passed: 0, failed: 0, details: "" };
    for (const { name, tarball, isNative } of await packAll(folder)) {
      const checks = [["publint", "run", tarball, "--strict"]];
      // ESM only: Node can require() that, and TypeScript says so with "nodenext", not with "node16". Node 10's resolution is not promised. An addon has no types to be wrong.
      if (!isNative) checks.push(["attw", tarball, "--profile", "esm-only", "--no-emoji"]);
      for (const command of checks) {
        const { code, output } = await run(command, { log: "package-shape", timeoutMs: 240_000, env: { NO_COLOR: "1" } });
        if (code === 0) sum.passed += 1;
        else {
          sum.failed += 1;
          sum.details += `${name}: ${command[0]}\n${output}\n`;
        }
      }
    }
    return sum;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
