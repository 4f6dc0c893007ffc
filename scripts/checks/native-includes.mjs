// The includes of the C++ and CUDA half against the table of scripts/native-arrows.mjs: one that points up, or files that
// include each other in a circle, fail by name.
// By hand: node scripts/checks/native-includes.mjs
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../lib/paths.mjs";
import { drawnNativeArrows, nativeArrows, printedNativeArrows } from "../native-arrows.mjs";

const page = "docs/architecture/native.md";
const mostFloors = 6; // headers of a folder that stand on each other
// Where folders stand that the table must name, all but tests and what measures.
const rooted = ["native/include", "native/src", "native/addon", "cuda"];
const unruled = /\/(?:test|bench|measure|stream_programs)(?:\/|$)/;
const searched = ["native/include", "native/src", "native/addon", "cuda", "cuda/device"];

export function nativeIncludes() {
  const files = new Map(sources().map((path) => [path, readFileSync(join(root, path), "utf8")]));
  const includes = includesOf(files);
  const problems = [
    ...controls(),
    ...tableProblems(nativeArrows),
    ...unlistedFolders(rooted.flatMap(foldersUnder), nativeArrows),
    ...arrowProblems(includes, nativeArrows),
    ...unusedArrows(includes, nativeArrows),
    ...circles(includes),
    ...tallFolders(includes),
  ];
  const printed = readFileSync(join(root, page), "utf8");
  for (const part of [printedNativeArrows(), drawnNativeArrows()]) {
    if (printed.includes(part)) continue;
    problems.push(`${page} shows other arrows than scripts/native-arrows.mjs has: copy the output of \`node scripts/native-arrows.mjs\``);
  }
  return problems.length === 0 ? { passed: 1 } : { failed: 1, details: problems.join("\n") };
}

const isSource = (name) => /\.(?:h|hpp|cpp|cuh|cu)$/.test(name);

/** Every file of a folder in the table. */
function sources() {
  return Object.keys(nativeArrows).flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter(isSource)
      .map((name) => `${folder}/${name}`),
  );
}

/** Every folder with sources in it. */
function foldersUnder(folder) {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  const below = entries.filter((entry) => entry.isDirectory() && entry.name !== "node_modules");
  const hasSources = entries.some((entry) => entry.isFile() && isSource(entry.name));
  return [...(hasSources ? [folder] : []), ...below.flatMap((entry) => foldersUnder(`${folder}/${entry.name}`))];
}

/** What no arrow rules. */
function unlistedFolders(folders, table) {
  return folders
    .filter((folder) => !Object.hasOwn(table, folder) && !unruled.test(folder))
    .map((folder) => `${folder} is not in the table of scripts/native-arrows.mjs`);
}

/** File → files of these that it includes. */
function includesOf(files) {
  const find = (from, name) => [dirname(from), ...searched].map((base) => normalize(join(base, name))).find((path) => files.has(path));
  return new Map(
    [...files].map(([path, text]) => {
      const names = [...text.matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)].map(([, name]) => name);
      return [path, names.map((name) => find(path, name)).filter((found) => found !== undefined)];
    }),
  );
}

/** A folder may name those above it only. */
function tableProblems(table) {
  const seen = new Set();
  return Object.entries(table).flatMap(([folder, { may }]) => {
    const wrong = may
      .filter((target) => !seen.has(target))
      .map((target) => `the table lets ${folder} include ${target}, which isn't above it`);
    seen.add(folder);
    return wrong;
  });
}

function arrowProblems(includes, table) {
  return [...includes].flatMap(([path, targets]) =>
    targets
      .filter((target) => dirname(target) !== dirname(path) && !table[dirname(path)].may.includes(dirname(target)))
      .map((target) => `${path} includes ${target}: ${dirname(path)} may not include ${dirname(target)}`),
  );
}

function unusedArrows(includes, table) {
  const used = new Set([...includes].flatMap(([path, targets]) => targets.map((target) => `${dirname(path)} ${dirname(target)}`)));
  return Object.entries(table).flatMap(([folder, { may }]) =>
    may.filter((target) => !used.has(`${folder} ${target}`)).map((target) => `the table lets ${folder} include ${target}, and nobody does`),
  );
}

/** Each circle once, as a line. */
function circles(includes) {
  const found = [];
  const state = new Map();
  const visit = (path, way) => {
    if (state.get(path) === "done") return;
    if (state.get(path) === "open") {
      found.push(`a circle: ${[...way.slice(way.indexOf(path)), path].join(" → ")}`);
      return;
    }
    state.set(path, "open");
    for (const target of includes.get(path) ?? []) visit(target, [...way, path]);
    state.set(path, "done");
  };
  for (const path of includes.keys()) visit(path, []);
  return found;
}

/** Folders whose headers stand on each other in more floors than a newcomer keeps in mind. Without circles. */
function tallFolders(includes) {
  const isHeader = (path) => !/\.(?:cpp|cu)$/.test(path);
  const towers = new Map();
  const towerOn = (path) => {
    if (towers.has(path)) return towers.get(path);
    towers.set(path, [path]);
    const below = (includes.get(path) ?? []).filter((target) => isHeader(target) && dirname(target) === dirname(path)).map(towerOn);
    const tower = [path, ...below.reduce((tallest, other) => (other.length > tallest.length ? other : tallest), [])];
    towers.set(path, tower);
    return tower;
  };
  const tallest = new Map();
  for (const tower of [...includes.keys()].filter(isHeader).map(towerOn)) {
    const folder = dirname(tower[0]);
    if (tower.length > (tallest.get(folder)?.length ?? mostFloors)) tallest.set(folder, tower);
  }
  return [...tallest].map(([folder, tower]) => `${folder} has ${tower.length} floors, more than ${mostFloors}: ${tower.join(" → ")}`);
}

/** What must be found: an arrow that points up, in the table and in a file; a circle; a folder of too many floors. */
function controls() {
  const table = { low: { may: [] }, high: { may: ["low"] } };
  const upwards = includesOf(
    new Map([
      ["low/a.hpp", '#include "../high/b.hpp"'],
      ["high/b.hpp", '#include "../low/a.hpp"'],
    ]),
  );
  const names = ["a", "b", "c", "d", "e", "f", "g"];
  const tower = new Map(names.map((name, i) => [`low/${name}.hpp`, i + 1 < names.length ? [`low/${names[i + 1]}.hpp`] : []]));
  const isFound = {
    "a folder of seven floors": tallFolders(tower).length === 1,
    "an include that points up": arrowProblems(upwards, table).length === 1,
    "a circle": circles(upwards).length === 1,
    "a folder that the table doesn't name": unlistedFolders(["low", "new", "cuda/test/new"], table).length === 1,
    "a table that points up": tableProblems({ low: { may: ["high"] }, high: { may: [] } }).length === 1,
    "an arrow that nobody uses": unusedArrows(new Map(), table).length === 1,
  };
  return Object.entries(isFound).flatMap(([what, found]) => (found ? [] : [`control: ${what} is not found`]));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { details = "every include follows the table", ...counts } = nativeIncludes();
  process.stdout.write(`${details}\n`);
  process.exit(counts.failed ? 1 : 0);
}
