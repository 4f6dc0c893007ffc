// Commands of the workspace where `npx` looks for them: a package manager links only what is there when it installs, and
// these are built afterwards.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "./paths.mjs";

export function linkCommands(folder = join(root, "apps", "bench")) {
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  for (const [name, path] of Object.entries(bin)) {
    const [link, target] = [join(root, "node_modules", ".bin", name), join(folder, path)];
    if (existsSync(link) || !existsSync(target)) continue;
    // A link that leads nowhere doesn't "exist".
    rmSync(link, { force: true });
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(relative(dirname(link), target), link);
  }
}
