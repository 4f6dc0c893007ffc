// libdfcclN, what programs run with, and libdfccl-dev, what they are built with, from the install tree.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { installTree, keepingManifests } from "./install-tree.mjs";
import { root } from "./paths.mjs";
import { run } from "./run.mjs";
import { stripLibraries } from "./strip-libraries.mjs";

const maintainer = "the dfccl authors <dfccl@users.noreply.invalid>";

/**
 * @param options.work - a folder for what is in between.
 * @returns the paths of both packages in `folder`. @throws where a program fails, with what it printed.
 */
export async function packDebian({ work, folder, build, version, date }) {
  // A version that comes before another one sorts before it.
  const debianVersion = version.replace("-", "~");
  const runtime = `libdfccl${version.split(".")[0]}`;
  const architecture = (await must(["dpkg", "--print-architecture"])).trim();
  const common = { work, folder, build, date, architecture, version: debianVersion };
  return [
    await packOne({
      ...common,
      name: runtime,
      component: "runtime",
      fields: (tree) => runtimeFields(tree, work),
      // Which package, and from which version on, programs need that are linked with it; and the loader looks anew.
      control: { shlibs: `libdfccl ${version.split(".")[0]} ${runtime} (>= ${debianVersion})\n`, triggers: "activate-noawait ldconfig\n" },
    }),
    await packOne({
      ...common,
      name: "libdfccl-dev",
      component: "development",
      fields: () => ({
        Section: "libdevel",
        Depends: `${runtime} (= ${debianVersion}), libc6-dev`,
        // The static library needs its libstdc++.
        Suggests: "g++",
        Description: [
          "collectives that cannot deadlock: development files",
          "The header of the C API, a static library, and what CMake and pkg-config",
          "need to find them.",
        ],
      }),
      control: {},
    }),
  ];
}

async function runtimeFields(tree, work) {
  // dpkg-shlibdeps wants a source package around it.
  const source = join(work, "source");
  mkdirSync(join(source, "debian"), { recursive: true });
  writeFileSync(join(source, "debian", "control"), "Source: dfccl\n\nPackage: libdfccl\nArchitecture: any\n");
  const library = join(
    tree,
    "usr",
    "lib",
    readdirSync(join(tree, "usr", "lib")).find((name) => /\.so\.\d+$/.test(name)),
  );
  const output = await must(["dpkg-shlibdeps", "-O", `-e${library}`], source);
  const depends = /^shlibs:Depends=(.*)$/m.exec(output)?.[1];
  if (!depends) throw new Error(`dpkg-shlibdeps names no packages:\n${output}`);
  return {
    Section: "libs",
    Depends: depends,
    Suggests: "libucx0",
    Description: [
      "collectives that cannot deadlock: shared library",
      "All-reduce and the like between the threads, processes and machines of a",
      "job, which each rank may run in any order. UCX is needed for worlds on",
      "several machines.",
    ],
  };
}

async function packOne({ work, folder, build, date, architecture, version, name, component, fields, control }) {
  const tree = join(work, name);
  await keepingManifests(build, () => installTree(build, "/usr", { staging: tree, component }));
  await stripLibraries(join(tree, "usr"));
  const documents = join(tree, "usr", "share", "doc", name);
  mkdirSync(documents, { recursive: true });
  rmSync(join(tree, "usr", "share", "doc", "dfccl"), { recursive: true, force: true });
  writeFileSync(join(documents, "copyright"), readFileSync(join(root, "LICENSE")));

  const files = filesOf(tree);
  const { Section, Description, ...relations } = await fields(tree);
  const [summary, ...lines] = Description;
  const bytes = files.reduce((sum, path) => sum + statSync(path).size, 0);
  const entries = {
    Package: name,
    Version: version,
    Architecture: architecture,
    Maintainer: maintainer,
    "Installed-Size": Math.ceil(bytes / 1024),
    ...relations,
    Section,
    Priority: "optional",
    Description: [summary, ...lines.map((text) => ` ${text}`)].join("\n"),
  };
  const folderOfControl = join(tree, "DEBIAN");
  mkdirSync(folderOfControl);
  const write = (file, text) => writeFileSync(join(folderOfControl, file), text);
  write(
    "control",
    `${Object.entries(entries)
      .map(([field, value]) => `${field}: ${value}`)
      .join("\n")}\n`,
  );
  write("md5sums", files.map((path) => `${md5(path)}  ${relative(tree, path)}\n`).join(""));
  for (const [file, text] of Object.entries(control)) write(file, text);

  const target = join(folder, `${name}_${version}_${architecture}.deb`);
  await must(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, target], folder, { SOURCE_DATE_EPOCH: date });
  return target;
}

const md5 = (path) => createHash("md5").update(readFileSync(path)).digest("hex");

/** Regular files; links aren't followed. */
function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

async function must(command, cwd, env) {
  const { code, output } = await run(command, { ...(cwd ? { cwd } : {}), ...(env ? { env } : {}), log: "pack-c", timeoutMs: 120_000 });
  if (code !== 0) throw new Error(`${command[0]} failed:\n${output}`);
  return output;
}
