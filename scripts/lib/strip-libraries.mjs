import { readdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.mjs";

/** Takes the debug information out of the libraries of an install tree, as far as they are there: it is three quarters of them. */
export async function stripLibraries(prefix) {
  const folder = join(prefix, "lib");
  const libraries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile() && entry.name.startsWith("libdfccl"));
  for (const { name } of libraries) {
    const option = name.endsWith(".a") ? "--strip-debug" : "--strip-unneeded";
    const { code, output } = await run(["strip", option, join(folder, name)], { log: "pack-c" });
    if (code !== 0) throw new Error(`strip failed:\n${output}`);
  }
}
