// Each published package as somebody meets it who installs that one alone. In a project that has all of them, a dependency which a
// package forgot to name is there all the same, because another one brings it.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { typeFaults } from "./consumer-types.mjs";
import { succeed } from "./package-publishing.mjs";

/** Everything of a package that can be imported: `@dfccl/core`, `@dfccl/compiler/algorithms`, and so on. */
export const modulesOf = ({ name, manifest }) =>
  Object.entries(manifest.exports)
    .filter(([path, target]) => target?.types !== undefined && !path.startsWith("./internal/"))
    .map(([path]) => join(name, path));

/**
 * Installs a package into an empty folder; imports it, and requires it, each in a process of its own on every Node; and checks a
 * program in TypeScript that imports it, with all declarations that this reads.
 */
export async function useAlone(entry, project, nodes, env) {
  await install(entry, project, env);
  for (const { binary } of nodes) await load(entry, project, binary, env);
  // An engine has no types.
  if (!entry.isNative) demandNone(typeFaults(project, "types.mts", { resolutions: ["Node16", "Bundler"], everyFile: true }));
}

/**
 * The same where a package finds nothing but what it names itself, as pnpm lays packages out: npm's usual layout lets it find also
 * what its dependencies brought.
 */
export async function useIsolated(entry, project, env) {
  await install(entry, project, env, ["--install-strategy=linked"]);
  await load(entry, project, process.execPath, env);
  if (!entry.isNative) demandNone(typeFaults(project, "types.mts", { types: [], resolutions: ["Node16"] }));
}

async function install(entry, project, env, options = []) {
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, "package.json"), '{ "name": "a-user-of-one", "private": true, "type": "module" }\n');
  await succeed(["npm", "install", "--no-audit", "--no-fund", ...options, entry.name], { cwd: project, env });
  const modules = entry.isNative ? [entry.name] : modulesOf(entry);
  const write = (file, lineOf) => writeFileSync(join(project, file), modules.map(lineOf).join(""));
  const demandExports = (name, loaded) => `if (Object.keys(${loaded}).length === 0) throw new Error("${name} exports nothing");\n`;
  write("require.cjs", (name) => demandExports(name, `require("${name}")`));
  write("import.mjs", (name) => demandExports(name, `await import("${name}")`));
  write("types.mts", (name, i) => `export * as module${i} from "${name}";\n`);
}

async function load({ isNative }, project, binary, env) {
  // ES modules can't import an engine: it is an addon.
  for (const program of isNative ? ["require.cjs"] : ["require.cjs", "import.mjs"])
    await succeed([binary, program], { cwd: project, env, timeoutMs: 60_000 });
}

function demandNone(faults) {
  if (faults.length > 0) throw new Error(faults.join("\n"));
}
