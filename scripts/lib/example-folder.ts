// A temporary folder in which an example finds what a package of this repository has installed, as in a project of a user's.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

/**
 * To be called while tests are collected: the folder goes when those of the file or of the `describe` around it are done.
 * @param packageRoot - folder URL of the package, with its slash.
 */
export function exampleFolder(packageRoot: URL): string {
  const folder = mkdtempSync(join(tmpdir(), "dfccl-example-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(fileURLToPath(new URL("node_modules", packageRoot)), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  return folder;
}
