import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clone } from "../../src/clone.js";

/** A clone of the repository in which nothing has to be compiled: scripts stand in for CMake, mpirun and what is built. */
export interface FakeClone {
  readonly root: string;
  /** The laboratory's command, as it lies in this clone. */
  readonly command: string;
  /** PATH on which the scripts are found, and nothing else. */
  readonly path: string;
  /** Puts a script on that PATH. */
  readonly tool: (name: string, script: string) => void;
  /** Puts a script among what is built. */
  readonly program: (name: string, script: string) => void;
  readonly remove: () => void;
}

export function makeFakeClone(): FakeClone {
  const root = mkdtempSync(join(tmpdir(), "dfccl-clone-"));
  const [source, copy] = [clone, root].map((folder) => join(folder, "apps", "laboratory")) as [string, string];
  for (const folder of ["bin", "native", "build/release/bench", "apps/laboratory"]) mkdirSync(join(root, folder), { recursive: true });
  for (const built of ["dist", "package.json"]) cpSync(join(source, built), join(copy, built), { recursive: true });
  symlinkSync(join(source, "node_modules"), join(copy, "node_modules"));
  const write = (path: string, script: string): void => {
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  };
  return {
    root,
    command: join(copy, "dist", "cli.js"),
    path: join(root, "bin"),
    tool: (name, script) => write(join(root, "bin", name), script),
    program: (name, script) => write(join(root, "build/release/bench", name), script),
    remove: () => rmSync(root, { recursive: true }),
  };
}
