// Every published package says on its page what it is, where it comes from and where to complain, and what Node it needs; and all
// of them say the same where they must. The root's package.json has the address of the repository.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lib/paths.mjs";
import { publicPackages } from "../pack-all.mjs";

/** @param packages - [{name, folder, manifest, isNative}] as `publicPackages()` gives them. */
export function publishedManifests(packages = publicPackages(), workspace = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))) {
  const sum = { passed: 0, failed: 0, details: "" };
  for (const entry of packages) {
    const wrong = faultsOf(entry, workspace);
    if (wrong.length === 0) sum.passed += 1;
    else {
      sum.failed += 1;
      sum.details += wrong.map((fault) => `${entry.folder}/package.json: ${fault}\n`).join("");
    }
  }
  return sum;
}

function faultsOf({ folder, manifest }, workspace) {
  // Programs of the platform's own, which the packer would otherwise not let run.
  const { executableFiles } = manifest.publishConfig ?? {};
  const page = workspace.repository.url.replace(/^git\+/, "").replace(/\.git$/, "");
  const expected = {
    license: workspace.license,
    author: workspace.author,
    homepage: `${page}/tree/main/${folder}#readme`,
    bugs: { url: `${page}/issues` },
    repository: { ...workspace.repository, directory: folder },
    engines: workspace.engines,
    // Signed where it is built, which only the release's workflow can do.
    publishConfig: { access: "public", provenance: true, ...(executableFiles === undefined ? {} : { executableFiles }) },
  };
  const faults = Object.entries(expected)
    .filter(([field, value]) => JSON.stringify(manifest[field]) !== JSON.stringify(value))
    .map(([field, value]) => `"${field}" should be ${JSON.stringify(value)}`);
  if (!(manifest.description?.length > 20)) faults.push('"description" should say in a sentence what it is');
  if (!(manifest.keywords?.length >= 3)) faults.push('"keywords" should have three words or more by which it can be found');
  if (!manifest.files?.includes("README.md")) faults.push('"files" should have README.md');
  // Tools read it, and with "exports" nothing is there that isn't named.
  if (manifest.exports?.["./package.json"] !== "./package.json") faults.push('"exports" should have "./package.json"');
  if (manifest.exports?.["."] === undefined) faults.push('"exports" should have "."');
  return faults;
}
