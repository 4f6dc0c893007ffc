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
    const waiting = (await packAll(folder)).flatMap(checksOf);
    // Two at a time: each waits for one core.
    const work = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const { name, command } = next;
        const { code, output } = await run(command, { log: "package-shape", timeoutMs: 240_000, env: { NO_COLOR: "1" } });
        if (code === 0) sum.passed += 1;
        else {
          sum.failed += 1;
          sum.details += `${name}: ${command[0]}\n${output}\n`;
        }
      }
    };
    await Promise.all([work(), work()]);
    return sum;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function checksOf({ name, tarball, isNative }) {
  const publint = { name, command: ["publint", "run", tarball, "--strict"] };
  // ESM only: Node can require() that, and TypeScript says so with "nodenext", not with "node16". Node 10's resolution is not promised. An addon has no types to be wrong.
  return isNative ? [publint] : [publint, { name, command: ["attw", tarball, "--profile", "esm-only", "--no-emoji"] }];
}
