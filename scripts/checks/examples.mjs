// Every numbered example runs to its end, the C example by the guide's own commands, and so does the command line. Each is one check.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/paths.mjs";
import { run } from "../lib/run.mjs";

export async function examples() {
  const numbered = readdirSync(join(root, "examples")).filter((name) => /^\d.*\.ts$/.test(name));
  const runs = [
    ...numbered.sort().map((file) => ({ file, command: ["node", "--import", "tsx", join("examples", file)] })),
    { file: "any-order.c", command: ["sh", "-ec", guideCommands("cc examples/any-order.c")] },
    // As every page types it, in a clone too.
    { file: "npx dfccl", command: ["npx", "--no", "dfccl", "doctor"] },
  ];
  const failures = [];
  for (const { file, command } of runs) {
    const { code, output } = await run(command, { log: "examples", timeoutMs: 120_000 });
    if (code !== 0) failures.push(`${file} ended with ${code}\n${output}`);
  }
  return { passed: runs.length - failures.length, failed: failures.length, details: failures.join("\n") };
}

/** The lines of the guide's code block that begins so. */
function guideCommands(beginning) {
  const blocks = readFileSync(join(root, "docs", "guide.md"), "utf8").matchAll(/^```sh\n(.*?)^```$/gms);
  for (const [, commands] of blocks) if (commands.startsWith(beginning)) return commands;
  throw new Error(`docs/guide.md has no commands that begin with "${beginning}"`);
}
