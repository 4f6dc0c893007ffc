import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { publishedManifests } from "../checks/manifests.mjs";
import { isNodeNewEnough } from "../lib/node-range.mjs";
import { root } from "../lib/paths.mjs";
import { publicPackages } from "../pack-all.mjs";

const fields = [
  "description",
  "keywords",
  "homepage",
  "bugs",
  "repository",
  "license",
  "author",
  "engines",
  "files",
  "exports",
  "publishConfig",
];
it.each(fields)("a package without %s is named", (field) => {
  const [first] = publicPackages();
  expect(publishedManifests([first])).toEqual({ passed: 1, failed: 0, details: "" });
  const { failed, details } = publishedManifests([{ ...first, manifest: { ...first.manifest, [field]: undefined } }]);
  expect(failed).toBe(1);
  expect(details).toContain(`${first.folder}/package.json: "${field}" should`);
});

it("the scripts run on the Node that the packages say, and on no other", () => {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(engines.node).toBe("^20.19.0 || >=22.12.0");
  const versions = ["18.20.8", "20.18.9", "20.19.0", "20.20.2", "21.7.3", "22.11.0", "22.12.0", "23.0.0", "24.21.0", "26.10.0"];
  expect(versions.filter(isNodeNewEnough)).toEqual(["20.19.0", "20.20.2", "22.12.0", "23.0.0", "24.21.0", "26.10.0"]);
});
