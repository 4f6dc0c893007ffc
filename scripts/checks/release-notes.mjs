// Each note in .changeset tells what kind of change it is about, which groups the changelogs.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/paths.mjs";
import { faultsOfNote } from "../lib/release-notes.mjs";

export function releaseNotes(folder = join(root, ".changeset")) {
  const notes = readdirSync(folder).filter((name) => name.endsWith(".md") && name !== "README.md");
  const faults = notes.map((name) => faultsOfNote(readFileSync(join(folder, name), "utf8")).map((fault) => `.changeset/${name}: ${fault}`));
  const failed = faults.filter((list) => list.length > 0).length;
  // Right after a release there are none.
  return { passed: Math.max(1, notes.length) - failed, failed, details: faults.flat().join("\n") };
}
