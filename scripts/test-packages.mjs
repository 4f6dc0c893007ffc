// Proves the way from a change to a user: changesets give versions and changelogs, every package is published to a
// registry on loopback, an empty project outside the workspace installs them, and a small program runs on every Node.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { arm64Node, buildArm64, checkArm64Symbols, whyNoArm64 } from "./lib/arm64.mjs";
import { line, step } from "./lib/console.mjs";
import { typeFaults } from "./lib/consumer-types.mjs";
import { modulesOf, useAlone, useIsolated } from "./lib/lone-packages.mjs";
import { startRegistry } from "./lib/loopback-registry.mjs";
import { nodeBinaries } from "./lib/node-versions.mjs";
import { copyWorkspace, isolatedEnvironment, publishAll, publishThirdParty, succeed, versionPackages } from "./lib/package-publishing.mjs";
import { root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";
import { fitsHere, packAll, publishablePackages } from "./pack-all.mjs";

const smoke = join(root, "scripts", "package-smoke");
/** It was 89 with all of a charting library. */
const mostInstalledMegabytes = 30;

/** @param report - called with each check's name, and with its failure where it failed. */
export async function testPackages(report = () => {}) {
  const folder = mkdtempSync(join(tmpdir(), "dfccl-packages-"));
  const sum = { passed: 0, failed: 0, skipped: 0, details: "" };
  const check = async (name, action) => {
    try {
      await action();
      sum.passed += 1;
      report(name);
      return true;
    } catch (error) {
      sum.failed += 1;
      sum.details += `${name}: ${error.message}\n`;
      report(name, error.message);
      return false;
    }
  };

  const alone = join(folder, "alone");
  let registry;
  try {
    const nodes = await nodeBinaries();
    // Before the workspace is copied: it is published from there.
    const noArm64 = whyNoArm64();
    const hasArm64 =
      noArm64 === undefined &&
      (await check("the engine for arm64 is compiled", () => buildArm64())) &&
      (await check("what it needs of arm64's glibc is in 2.28", checkArm64Symbols));
    registry = await startRegistry(join(folder, "registry"));
    const env = isolatedEnvironment(folder, registry.url);
    const workspace = join(folder, "workspace");
    await copyWorkspace(workspace, env);
    await publishThirdParty(join(folder, "third-party"), env);
    // Before any of ours is in the registry: this is the README's way while nothing is published.
    await check("a project installs what the clone packs", () => installPacked(folder, env));
    const ready =
      (await check("changesets write versions and changelogs", () => versionPackages(workspace, env))) &&
      (await check("every package is published", () => publishAll(workspace, env, registry.url))) &&
      (await check("an empty project installs them", () => installInto(join(folder, "project"), workspace, env)));
    if (ready) {
      for (const { version, binary } of nodes) {
        await check(`the program runs on Node ${version}`, async () => {
          await succeed([binary, "main.mjs"], { cwd: join(folder, "project"), env, timeoutMs: 60_000 });
        });
        await check(`perf measures on Node ${version}`, () => measureWith(binary, join(folder, "project"), env));
        await check(`every installed program runs on Node ${version}`, () => runPrograms(binary, join(folder, "project"), env));
      }
      for (const { version, binary } of nodes) {
        await check(`a program in CommonJS requires every module on Node ${version}`, async () => {
          await succeed([binary, "require.cjs", ...allModules(workspace)], { cwd: join(folder, "project"), env, timeoutMs: 120_000 });
        });
      }
      await check("TypeScript finds the types, strictly, without @types/node and with it", () =>
        checkTypes(join(folder, "project"), workspace),
      );
      await check("the command knows its commit, and has nothing in it that needs a clone", () =>
        isPublished(join(folder, "project"), env),
      );
      // Two at a time: npm waits for the registry, and a Node for the disk.
      const waiting = publishablePackages(workspace).filter(fitsHere);
      const useNext = async () => {
        for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
          const { name } = entry;
          await check(`${name} can be installed and used alone`, () => useAlone(entry, join(alone, name), nodes, env));
          await check(`${name} names all that it needs`, () => useIsolated(entry, join(folder, "isolated", name), env));
        }
      };
      await Promise.all([useNext(), useNext()]);
      await check(`the command alone takes less than ${mostInstalledMegabytes} MB`, () => measureInstalled(join(alone, "dfccl")));
      if (hasArm64) {
        await check("npm chooses arm64's engine on arm64, and an emulator runs programs and measures with it", () =>
          runOnArm64(join(folder, "arm64"), workspace, env),
        );
      }
      await check("control: without the platform's package it names what was tried", () => failWithoutAddon(join(folder, "project"), env));
    }
    if (noArm64 !== undefined) {
      sum.skipped += 3;
      sum.note = `arm64: ${noArm64}`;
    }
  } finally {
    await registry?.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return sum;
}

async function installInto(project, workspace, env, options = []) {
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, "package.json"), '{ "name": "a-user", "private": true, "type": "module" }\n');
  for (const name of readdirSync(smoke)) copyFileSync(join(smoke, name), join(project, name));
  // The platform packages are left to optionalDependencies: choosing among them is part of what is tested.
  const names = publishablePackages(workspace).filter(({ isNative }) => !isNative);
  await succeed(["npm", "install", "--no-audit", "--no-fund", ...options, ...names.map(({ name }) => name)], { cwd: project, env });
}

async function runOnArm64(project, workspace, env) {
  await installInto(project, workspace, env, ["--cpu=arm64", "--os=linux", "--libc=glibc"]);
  const engines = readdirSync(join(project, "node_modules", "@dfccl")).filter((name) => name.startsWith("native-"));
  if (engines.join() !== "native-linux-arm64-gnu") throw new Error(`npm installed ${engines.join(", ")}`);
  const node = await arm64Node(join(project, "emulated"), join(project, "node_modules", "@dfccl", engines[0]));
  const succeedThere = (...args) => succeed([...node.command, ...args], { cwd: project, env: { ...env, ...node.env }, timeoutMs: 120_000 });
  await succeed([...node.command, "main.mjs"], { cwd: project, env, timeoutMs: 120_000 }); // out of the package, by itself
  for (const test of ["all_reduce_perf", "all_gather_perf", "alltoall_perf"]) {
    const { output } = await succeedThere(installed(project, test), "-g", "2", "-b", "64", "-e", "64K", "-f", "32", "-n", "2", "-w", "1");
    if (!output.includes("# Out of bounds values : 0 OK")) throw new Error(`${test} prints\n${output}`);
  }
}

/** With all that it needs, and nothing that is optional but the engine. */
function measureInstalled(project) {
  const modules = join(project, "node_modules");
  const sizes = new Map();
  const counted = new Set(); // a program that a package links to a second name takes its place once
  for (const entry of readdirSync(modules, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const name = /^(?:@[^/]+\/)?[^/]+/.exec(path.slice(modules.length + 1))[0];
    const { dev, ino, size } = statSync(path);
    if (counted.has(`${dev}:${ino}`)) continue;
    counted.add(`${dev}:${ino}`);
    sizes.set(name, (sizes.get(name) ?? 0) + size);
  }
  const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const largest = [...sizes].sort(([, a], [, b]) => b - a).slice(0, 8);
  const text = `${megabytes(total)} MB: ${largest.map(([name, size]) => `${name} ${megabytes(size)}`).join(", ")}`;
  if (total >= mostInstalledMegabytes * 1e6) throw new Error(text);
  step("installed size", text);
}

async function installPacked(folder, env) {
  const packed = await packAll(join(folder, "packed"));
  const project = join(folder, "from-files");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "name": "a-neighbour", "private": true, "type": "module" }\n');
  await succeed(["npm", "install", "--no-audit", "--no-fund", ...packed.map(({ tarball }) => tarball)], { cwd: project, env });
  copyFileSync(join(smoke, "main.mjs"), join(project, "main.mjs"));
  await succeed([process.execPath, "main.mjs"], { cwd: project, env, timeoutMs: 60_000 });
}

const allModules = (workspace) =>
  publishablePackages(workspace)
    .filter(({ isNative }) => !isNative)
    .flatMap(modulesOf);

function checkTypes(project, workspace) {
  const imports = allModules(workspace).map((name, i) => `import * as module${i} from "${name}";\nexport { module${i} };\n`);
  writeFileSync(join(project, "all.mts"), imports.join(""));
  const faults = ["types.mts", "all.mts"].flatMap((file) => typeFaults(project, file, { types: [] }));
  mkdirSync(join(project, "node_modules", "@types"), { recursive: true });
  const types = realpathSync(join(root, "node_modules", "@types", "node"));
  symlinkSync(types, join(project, "node_modules", "@types", "node"));
  faults.push(...["types.mts", "all.mts"].flatMap((file) => typeFaults(project, file, { types: ["node"] })));
  if (faults.length > 0) throw new Error(faults.join("\n"));
}

const installed = (project, name) => join(project, "node_modules", ".bin", name);

/** Figures, a file of them and a page of that; of a run that failed no page. */
async function measureWith(binary, project, env) {
  const dfccl = (...args) => run([binary, installed(project, "dfccl"), ...args], { cwd: project, env, log: "packages", timeoutMs: 60_000 });
  const perf = await dfccl("perf", "all_reduce", "-g", "2", "-b", "8", "-e", "64K", "-f", "8", "-n", "5", "-w", "1", "-J", "measured.json");
  if (perf.code !== 0 || !perf.output.includes("# Out of bounds values : 0 OK"))
    throw new Error(`perf ended with ${perf.code}\n${perf.output}`);
  const page = await dfccl("report", "measured.json", "-o", "measured.html");
  if (page.code !== 0 || !existsSync(join(project, "measured.html"))) throw new Error(`report ended with ${page.code}\n${page.output}`);

  const failed = await dfccl("perf", "all_reduce", "--backend", "mpi", "-J", "failed.json");
  if (failed.code !== 5 || !/Clone\s+the\s+repository/.test(failed.output))
    throw new Error(`mpi ended with ${failed.code}\n${failed.output}`);
  const empty = await dfccl("report", "failed.json", "-o", "failed.html");
  if (empty.code !== 2 || existsSync(join(project, "failed.html"))) throw new Error(`a page of nothing: ${empty.code}\n${empty.output}`);
}

async function runPrograms(binary, project, env) {
  const { bin } = JSON.parse(readFileSync(join(project, "node_modules", "dfccl", "package.json"), "utf8"));
  const names = Object.keys(bin);
  if (names.length !== 12) throw new Error(`twelve programs are promised, and there are ${names.length}`);
  for (const name of names) {
    const args = name === "dfccl" ? ["doctor"] : ["-g", "2", "-b", "64", "-e", "64", "-n", "2", "-w", "1"];
    const said = name === "dfccl" ? "Collectives run here." : "# Out of bounds values : 0 OK";
    const { output } = await succeed([binary, installed(project, name), ...args], { cwd: project, env, timeoutMs: 60_000 });
    if (!output.includes(said)) throw new Error(`${name} doesn't say "${said}":\n${output}`);
  }
}

async function isPublished(project, env) {
  const dfccl = (...args) => run([process.execPath, installed(project, "dfccl"), ...args], { cwd: project, env, log: "packages" });
  const { output: version } = await dfccl("--version");
  if (!/^\d+\.\d+\.\d+\ncommit [0-9a-f]{7,}\+?, packed \d{4}-\d\d-\d\d, /.test(version)) throw new Error(`--version prints ${version}`);
  for (const [args, hidden] of [
    [[], ["overheads"]],
    [["bench"], ["mpi", "interpreter", "overheads"]],
  ]) {
    const { output } = await dfccl(...args, "--help");
    for (const name of hidden) {
      if (output.includes(`  ${name} `)) throw new Error(`dfccl ${args.join(" ")} --help lists ${name}:\n${output}`);
      const { code } = await dfccl(...args, name);
      if (code !== 2) throw new Error(`dfccl ${[...args, name].join(" ")} ended with ${code}`);
    }
    if (/clone/i.test(output)) throw new Error(`dfccl ${args.join(" ")} --help speaks of a clone:\n${output}`);
  }
}

/** What a user of an unsupported platform sees: the same project, its addon taken away. */
async function failWithoutAddon(project, env) {
  rmSync(join(project, "node_modules", "@dfccl", `native-linux-${process.arch}-gnu`), { recursive: true });
  const { code, output } = await run([process.execPath, "main.mjs"], { cwd: project, env, log: "packages", timeoutMs: 60_000 });
  if (code === 0) throw new Error("the program ran without an addon");
  for (const part of ["platform package", "not installed", "workspace build", "--include=optional"]) {
    if (!output.includes(part)) throw new Error(`the message doesn't say "${part}":\n${output}`);
  }
  const perf = await run([process.execPath, installed(project, "all_reduce_perf"), "-g", "2"], { cwd: project, env, log: "packages" });
  if (perf.code !== 5 || !perf.output.includes("--include=optional")) throw new Error(`perf ended with ${perf.code}\n${perf.output}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { passed, failed, note } = await testPackages((name, failure) => {
    step(failure ? "failed" : "passed", name);
    if (failure) line(failure);
  });
  if (note) line(note);
  process.exit(failed > 0 || passed === 0 ? 1 : 0);
}
