// Leaves in the command line's package which commit it is of: once installed, nothing else tells. Run by npm before it packs.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./lib/paths.mjs";

const git = (...args) => spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout?.trim() ?? "";
const changed = git("status", "--porcelain", "--untracked-files=no") === "" ? "" : "+";
const build = { commit: `${git("rev-parse", "--short", "HEAD") || "unknown"}${changed}`, date: new Date().toISOString() };
writeFileSync(join(root, "apps", "bench", "dist", "build.json"), `${JSON.stringify(build)}\n`);
