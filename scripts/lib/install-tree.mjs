// `cmake --install` of a build into a folder of the scripts' own.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.mjs";

/**
 * @param options.staging - where the tree is put, as if it were the root: DESTDIR.
 * @param options.component - "runtime" or "development"; both unless it is given.
 * @throws where CMake fails, with what it printed.
 */
export async function installTree(build, prefix, { staging, component } = {}) {
  const command = ["cmake", "--install", build, "--prefix", prefix, ...(component ? ["--component", component] : [])];
  const { code, output } = await run(command, { env: staging ? { DESTDIR: staging } : {}, timeoutMs: 120_000, log: "install-tree" });
  if (code !== 0) throw new Error(`${command.join(" ")} failed:\n${output}`);
}

/** Runs `act`, and leaves what the build knows of its user's own installs, for the target `uninstall`, as it was. */
export async function keepingManifests(build, act) {
  const names = () => readdirSync(build).filter((name) => /^install_manifest.*\.txt$/.test(name));
  const before = names().map((name) => [name, readFileSync(join(build, name))]);
  const remove = () => {
    for (const name of names()) rmSync(join(build, name));
  };
  remove();
  try {
    return await act();
  } finally {
    remove();
    for (const [name, content] of before) writeFileSync(join(build, name), content);
  }
}
