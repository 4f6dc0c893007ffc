// From a copy of the workspace to packages in a registry on loopback: versions, changelogs, publication.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { publicPackages, publishablePackages } from "../pack-all.mjs";
import { publish } from "../publish.mjs";
import { writeVersions } from "../version.mjs";
import { root } from "./paths.mjs";
import { run } from "./run.mjs";
import { copyForPublishing, thirdPartyPackages } from "./third-party.mjs";

const changelogText = "It reaches the changelog.";

/** A home of its own: the user's registry and login must not reach the test, nor the test's theirs. */
export function isolatedEnvironment(folder, registryUrl) {
  const home = join(folder, "home");
  mkdirSync(home, { recursive: true });
  const userConfig = join(home, ".npmrc");
  writeFileSync(userConfig, `registry=${registryUrl}\n${registryUrl.replace("http:", "")}:_authToken=loopback\n`);
  const person = { NAME: "dfccl", EMAIL: "dfccl@example.invalid" };
  // npm reads these in any case of letters, and takes NPM_CONFIG_USERCONFIG before ours.
  const theirs = Object.keys(process.env).filter((key) => /^npm_config_/i.test(key));
  return {
    ...Object.fromEntries(theirs.map((key) => [key, undefined])),
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    npm_config_userconfig: userConfig,
    npm_config_registry: registryUrl,
    npm_config_cache: join(home, "npm-cache"),
    GIT_CONFIG_NOSYSTEM: "1",
    ...Object.fromEntries(
      ["AUTHOR", "COMMITTER"].flatMap((role) => Object.entries(person).map(([key, value]) => [`GIT_${role}_${key}`, value])),
    ),
  };
}

/** Versions get written into the manifests, so the test works on a copy: sources, what was built, and links to tools. */
export async function copyWorkspace(workspace, env) {
  const { output } = await succeed(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], { cwd: root });
  for (const file of output.split("\0").filter((name) => name && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(workspace, file)), { recursive: true });
    copyFileSync(join(root, file), join(workspace, file));
  }
  symlinkSync(join(root, "node_modules"), join(workspace, "node_modules"));
  const packages = publicPackages(workspace);
  for (const { folder, manifest } of packages) {
    for (const built of ["dist", "dfccl.node", "bin"]) {
      const from = join(root, folder, built);
      if (existsSync(from)) cpSync(from, join(workspace, folder, built), { recursive: true });
    }
    // pnpm reads the versions that it writes for "workspace:" from here, so these must lead into the copy.
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies })) {
      const target = packages.find((entry) => entry.name === name);
      if (!target) continue;
      const link = join(workspace, folder, "node_modules", name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(workspace, target.folder), link);
    }
  }
  // Only a workflow can sign where a package comes from.
  for (const { folder, manifest } of packages) {
    const { provenance: _, ...publishConfig } = manifest.publishConfig;
    writeFileSync(join(workspace, folder, "package.json"), `${JSON.stringify({ ...manifest, publishConfig }, null, 2)}\n`);
  }
  const git = (...args) => succeed(["git", ...args], { cwd: workspace, env });
  await git("init", "--quiet", "--initial-branch=main");
  await git("add", "--all");
  await git("commit", "--quiet", "--message", "Copy of the workspace");
}

export async function publishThirdParty(folder, env) {
  for (const dependency of thirdPartyPackages(publishablePackages())) {
    const copy = join(folder, `${dependency.name}@${dependency.version}`);
    copyForPublishing(dependency, copy);
    // A tag for each version: "latest" must not move back when an older version follows a newer one.
    await succeed(["npm", "publish", "--ignore-scripts", "--tag", `copy-${dependency.version.replaceAll(".", "-")}`, "."], {
      cwd: copy,
      env,
    });
  }
}

export async function versionPackages(workspace, env) {
  const before = publishablePackages(workspace);
  const first = before[0];
  writeFileSync(join(workspace, ".changeset", "proof.md"), `---\n"${first.name}": minor\n---\n\nFixed: ${changelogText}\n`);
  await writeVersions(workspace, { env });

  const after = publishablePackages(workspace);
  const [major, minor] = first.manifest.version.split(".").map(Number);
  const wrong = after.filter(({ manifest }) => manifest.version !== `${major}.${minor + 1}.0`);
  if (wrong.length > 0)
    throw new Error(`not the next minor version: ${wrong.map((entry) => `${entry.name} ${entry.manifest.version}`).join(", ")}`);
  const lost = after.filter(({ manifest }, index) => Object.keys(manifest).join() !== Object.keys(before[index].manifest).join());
  if (lost.length > 0) throw new Error(`fields came, went or moved in ${lost.map(({ folder }) => folder).join(", ")}`);
  const changelog = readFileSync(join(workspace, first.folder, "CHANGELOG.md"), "utf8");
  if (!changelog.includes(`\n### Fixed\n\n`) || !changelog.includes(`\n- ${changelogText}\n`))
    throw new Error(`the changelog doesn't mention the change:\n${changelog}`);
}

export async function publishAll(workspace, env, registryUrl) {
  const { leftOut } = await publish(["--no-git-tag"], workspace, { env, timeoutMs: 300_000 });
  const left = leftOut.filter((folder) => JSON.parse(readFileSync(join(workspace, folder, "package.json"), "utf8")).private);
  if (left.length > 0) throw new Error(`${left.join(", ")} stays private after it was left out`);
  for (const { name, manifest } of publishablePackages(workspace)) {
    const response = await fetch(`${registryUrl}${name.replace("/", "%2f")}`);
    const published = response.ok ? (await response.json()).versions?.[manifest.version] : undefined;
    if (!published) throw new Error(`${name}@${manifest.version} is not in the registry`);
    const ranges = Object.values({ ...published.dependencies, ...published.optionalDependencies });
    if (ranges.some((range) => range.startsWith("workspace:"))) throw new Error(`${name} was published with a workspace: range`);
  }
}

/** @throws what the command printed, where it doesn't end with 0. */
export async function succeed(command, options) {
  const result = await run(command, { log: "packages", timeoutMs: 180_000, ...options });
  if (result.code !== 0) throw new Error(`${command.join(" ")} ended with ${result.code}\n${result.output}`);
  return result;
}
