// What can be said of a command on a page without running it: that what it names is there. A command that no rule knows is a fault, so
// that a new kind of command comes with a rule of its own.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { benchmarks } from "./benchmarks.mjs";
import { pagesOwnFiles } from "./page-exceptions.mjs";
import { root } from "./paths.mjs";

const ofRepository = /^(?:apps|cuda|deploy|docs|examples|native|packages|python|scripts)\/[\w./-]+\.\w+$/;
const read = (path) => readFileSync(join(root, path), "utf8");
const json = (path) => JSON.parse(read(path));

/**
 * @param words - of one command, as the shell splits them.
 * @param context.page - where it stands: names are looked up beside it too.
 * @param context.parseOnly - what reads a command line of dfccl.
 * @returns what is wrong with it.
 */
export async function faultOf(words, context) {
  const [name, ...args] = words;
  if (name === undefined) return context.mayLackArguments ? undefined : "no command follows";
  const gone = words.find((word) => ofRepository.test(word) && !existsSync(join(root, word)));
  if (gone) return `${gone} isn't in the repository`;
  if (name === "dfccl" || (name === "./run.sh" && args.length > 0)) return dfccl(args, context);
  // npx finds what is installed; with vitest and pnpm, that is this repository's.
  if (name === "npx") return faultOf(args, context);
  if (name === "node" && args[0] === "apps/bench/dist/cli.js") return dfccl(args.slice(1), context);
  if (name === "node" && args[0] === "apps/laboratory/dist/cli.js") return laboratory(args.slice(1), context);
  const rule = rules[name];
  if (rule) return rule(args, context);
  if (name.includes("/") && existsIn(context.page, name)) return optionsOf(args, read(name));
  if (isProgramOfOurs(name)) return optionsOf(args, programText());
  if (/^\.\/[\w-]+\.sh$/.test(name))
    return read("scripts/pack-gpu.mjs").includes(`"${name.slice(2)}"`) ? undefined : `${name} isn't packed`;
  if (pagesOwnFiles[context.page]?.includes(name)) return undefined;
  return `no rule of scripts/lib/command-rules.mjs knows "${name}"`;
}

async function dfccl(args, context) {
  const { fault, program } = await context.parseOnly(
    args.filter((word) => word !== "…"),
    context,
  );
  return fault ?? (program?.length > 0 ? faultOf(program, context) : undefined);
}

async function laboratory(args, context) {
  return (await context.parseOnly(args, { ...context, isLaboratory: true })).fault;
}

/** What only needs to be there: of the system, or not for this machine to have. */
const any = () => undefined;
const rules = {
  npm: ([what, ...names], context) => {
    if (what === "install")
      return firstOf(names, (name) => (/^[./]/.test(name) || published().has(name) ? undefined : `${name} isn't published`));
    const script = what === "run" ? names[0] : what;
    if (!json("package.json").scripts[script]) return `package.json has no script "${script}"`;
    const benchmark = benchmarks[script.replace(/^bench:/, "")];
    if (what !== "run" || benchmark === undefined) return undefined;
    const [dashes, ...args] = names.slice(1);
    if (dashes !== undefined && dashes !== "--") return `npm keeps ${dashes} to itself; options of ${script} come behind --`;
    return faultOf(["node", ...benchmark, ...args], context);
  },
  pnpm: ([filter, name, script]) => {
    if (filter !== "--filter") return "only pnpm --filter PACKAGE SCRIPT is known";
    return workspace().find((one) => one.name === name)?.scripts?.[script] ? undefined : `${name} has no script "${script}"`;
  },
  node: ([path], context) => file(path, context),
  vitest: (args) => vitest(args),
  tsx: ([path], context) => file(path, context),
  python: ([path, ...args], context) => pythonProgram(path, args, context),
  python3: ([path, ...args], context) => pythonProgram(path, args, context),
  torchrun: (args, context) => pythonProgram(...afterOptions(args, { "--nproc-per-node": 1 }), context),
  pip: ([, path]) => (existsSync(join(root, path, "pyproject.toml")) ? undefined : `${path} is nothing that pip installs`),
  mpirun: (args, context) => faultOf(afterOptions(args, { "-n": 1, "-H": 1, "-x": 1, "-genv": 2 }).flat(), context),
  srun: (args, context) => faultOf(afterOptions(args, {}).flat(), context),
  sbatch: ([path, ...command], context) => file(path, context) ?? faultOf(command, context),
  kubectl: ([verb, ...args], context) => (verb === "apply" ? file(args[args.indexOf("-f") + 1], context) : undefined),
  docker: (args, context) => file(args[args.indexOf("-f") + 1], context),
  cc: (args, context) =>
    firstOf(
      args.filter((word) => word.endsWith(".c")),
      (path) => file(path, context),
    ),
  cmake: (args) => cmake(args),
  ctest: any,
  ...Object.fromEntries(["cd", "cp", "make", "export", "wait", "openssl", "torchfrtrace", "changeset"].map((name) => [name, any])),
};

/** @param values - how many words belong to an option. @returns the program behind the options, and what follows it. */
function afterOptions(args, values) {
  let at = 0;
  while (args[at]?.startsWith("-")) at += 1 + (values[args[at]] ?? 0);
  return at < args.length ? [args[at], args.slice(at + 1)] : [];
}

function firstOf(list, faultOfOne) {
  return list.map(faultOfOne).find((fault) => fault !== undefined);
}

const existsIn = (page, path) => existsSync(join(root, path)) || existsSync(join(root, dirname(page), path));

/** A file of this repository, or one of those that a page tells its reader to have. */
function file(path, { page }) {
  if (existsIn(page, path) || pagesOwnFiles[page]?.includes(path)) return undefined;
  return `${path} is neither in the repository nor among the reader's own files of scripts/lib/page-exceptions.mjs`;
}

function pythonProgram(path, args, context) {
  if (path === "-c") return pythonFault(args[0]);
  if (path === "-m" && args[0] === "dfccl_nccl") return dfcclNccl(args.slice(1), context);
  if (path === "-m") return existsSync(join(root, args.at(-1))) ? undefined : `${args.at(-1)} isn't there`;
  const fault = file(path, context);
  const own = [path, join(dirname(context.page), path)].find((name) => existsSync(join(root, name)));
  return fault ?? (own ? optionsOf(args, besidesOf(own)) : undefined);
}

function dfcclNccl([command, ...args], context) {
  if (command === "run") return faultOf(args[0] === "--" ? args.slice(1) : args, context);
  const source = read("python/dfccl-nccl/src/dfccl_nccl/commands.py");
  if (command !== undefined && !source.includes(`add_parser("${command}"`)) return `dfccl_nccl has no command "${command}"`;
  return optionsOf(args, source);
}

/** Options may be those of a module beside the program. */
function besidesOf(path) {
  const folder = dirname(path);
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".py"))
    .map((name) => read(join(folder, name)))
    .join("\n");
}

/** @returns Python's own words on what is no Python. */
export function pythonFault(code) {
  try {
    execFileSync("python3", ["-c", "import sys; compile(sys.stdin.read(), 'page', 'exec')"], { input: code, stdio: "pipe" });
  } catch (error) {
    return `${error.stderr}`.trim().split("\n").at(-1);
  }
  return undefined;
}

function optionsOf(args, source) {
  const options = args.filter((word) => /^--\w/.test(word)).map((word) => word.split("=")[0]);
  // As it is typed, or as the argument of a function that makes options of its names.
  const isKnown = (option) => source.includes(option) || source.includes(`${option.slice(2).replaceAll("-", "_")}=`);
  return firstOf(options, (option) => (isKnown(option) || option === "--help" ? undefined : `its source knows no ${option}`));
}

function vitest(args) {
  const project = args[args.indexOf("--project") + 1];
  const folder = ["packages", "apps", "."].map((parent) => join(parent, project)).find((path) => existsSync(join(root, path)));
  const named =
    folder ??
    ["packages", "apps"]
      .flatMap((parent) => readdirSync(join(root, parent)).map((name) => join(parent, name)))
      .find(
        (path) => existsSync(join(root, path, "vitest.config.ts")) && read(join(path, "vitest.config.ts")).includes(`name: "${project}"`),
      );
  if (!named) return `there is no project "${project}"`;
  const pattern = args[args.indexOf("--project") + 2] ?? "";
  const tests = readdirSync(join(root, named, "test"), { recursive: true }).map((path) => join("test", path));
  return tests.some((path) => path.includes(pattern)) ? undefined : `no test of ${project} is called ${pattern}`;
}

function cmake(args) {
  const after = (option) => (args.includes(option) ? args[args.indexOf(option) + 1] : undefined);
  const preset = after("--preset");
  if (preset && !json("native/CMakePresets.json").configurePresets.some(({ name }) => name === preset))
    return `there is no preset "${preset}"`;
  const target = after("--target");
  if (target && !isProgramOfOurs(target)) return `there is no target "${target}"`;
  const set = args.filter((word) => word.startsWith("-D")).map((word) => word.slice(2).split("=")[0]);
  return firstOf(set, (name) => (name.startsWith("CMAKE_") || cmakeText().includes(name) ? undefined : `no CMakeLists.txt reads ${name}`));
}

const once = (make) => {
  let made;
  return () => {
    made ??= make();
    return made;
  };
};
const workspace = once(() =>
  ["packages", "apps"].flatMap((parent) => readdirSync(join(root, parent)).map((name) => json(join(parent, name, "package.json")))),
);
/** With what some package of ours lets its users bring along. */
const published = once(
  () =>
    new Set(
      workspace()
        .filter((one) => !one.private)
        .flatMap(({ name, peerDependencies }) => [name, ...Object.keys(peerDependencies ?? {})]),
    ),
);
const textOf = (folders, ending) => () =>
  folders
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((path) => join(folder, path)))
    .filter((path) => ending.test(path) && !path.includes("node_modules"))
    .map(read)
    .join("\n");
const cmakeText = once(textOf(["native", "cuda"], /CMakeLists\.txt$|\.cmake$/));
const programText = once(textOf(["native", "cuda"], /\.(?:cpp|hpp|cu)$/));

/** Whether CMake makes a program or library of that name, wherever it lies. Benchmarks and tests are called after their sources. */
function isProgramOfOurs(path) {
  const name = path.split("/").at(-1);
  return sourceNames().has(name) || new RegExp(`(?<![\\w-])${name.replaceAll(/\W/g, "\\$&")}(?![\\w-])`).test(cmakeText());
}
const sourceNames = once(() => {
  const files = (folder) => readdirSync(join(root, "native", folder), { recursive: true }).map((path) => path.replace(/\.\w+$/, ""));
  return new Set([...files("bench").map((path) => basename(path)), ...files("test").map((path) => path.replaceAll("/", "-"))]);
});
