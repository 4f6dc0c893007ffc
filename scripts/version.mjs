// `npm run version`: makes version numbers and changelogs of the notes in .changeset.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { giveUp } from "./lib/console.mjs";
import { root } from "./lib/paths.mjs";
import { groupByKind } from "./lib/release-notes.mjs";
import { run } from "./lib/run.mjs";

/** @param options - of the command that runs changesets, such as `env`. @throws {Error} with what it printed, where it failed. */
export async function writeVersions(workspace = root, options = {}) {
  const folders = ["packages", "apps"].flatMap((parent) =>
    readdirSync(join(workspace, parent)).map((name) => join(workspace, parent, name)),
  );
  folders.push(join(workspace, "native"));
  const manifests = folders.map((folder) => join(folder, "package.json")).filter((file) => existsSync(file));
  const peers = new Map(manifests.map((file) => [file, hidePeers(file)]));
  let outcome;
  try {
    outcome = await run(["changeset", "version"], { cwd: workspace, log: "version", timeoutMs: 120_000, ...options });
  } finally {
    for (const [file, hidden] of peers) if (hidden) showPeers(file, hidden);
  }
  if (outcome.code !== 0) throw new Error(`changeset version ended with ${outcome.code}\n${outcome.output}`);
  for (const changelog of folders.map((folder) => join(folder, "CHANGELOG.md")).filter((file) => existsSync(file))) {
    writeFileSync(changelog, groupByKind(readFileSync(changelog, "utf8")));
  }
}

/**
 * Takes the peers out of a manifest. changesets makes any new version of a peer a breaking change of whoever names it, also where both get
 * the same version anyhow: a first version would be 1.0.0.
 */
function hidePeers(file) {
  const { peerDependencies, ...others } = readJson(file);
  if (!peerDependencies) return undefined;
  const order = Object.keys(readJson(file));
  writeJson(file, others);
  return { peerDependencies, order };
}

function showPeers(file, { peerDependencies, order }) {
  const manifest = { ...readJson(file), peerDependencies };
  writeJson(file, Object.fromEntries(order.map((key) => [key, manifest[key]])));
}

const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));
const writeJson = (file, value) => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    await writeVersions();
  } catch (error) {
    giveUp(error.message);
  }
}
