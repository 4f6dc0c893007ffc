// Every numbered example runs to its end. Each is one check.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/paths.mjs";
import { run } from "../lib/run.mjs";

export async function examples() {
  const folder = join(root, "examples");
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => /^\d.*\.(?:ts|mjs)$/.test(name)) : [];
  const failures = [];
  for (const file of files.sort()) {
    const command = ["node", ...(file.endsWith(".ts") ? ["--import", "tsx"] : []), join("examples", file)];
    const { code, output } = await run(command, { log: "examples", timeoutMs: 120_000 });
    if (code !== 0) failures.push(`${file} ended with ${code}\n${output}`);
  }
  return { passed: files.length - failures.length, failed: failures.length, details: failures.join("\n") };
}
