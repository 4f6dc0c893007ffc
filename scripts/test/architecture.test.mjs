// A newcomer finds what the pages and comments on the native half name: every file is there, and so is every question.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../lib/paths.mjs";

const folder = "docs/architecture";
const read = (path) => readFileSync(join(root, path), "utf8");

/** The numbered items under a heading, each with the paths that it links to, from the root. */
function itemsUnder(page, heading) {
  const [, body = ""] = page.split(new RegExp(`^## ${heading}.*$`, "m"));
  const list = body.split(/^## /m)[0];
  return list
    .split(/^(?=\d+\. )/m)
    .filter((item) => /^\d+\. /.test(item))
    .map((item) => [...item.matchAll(/\]\(([^)#]+)\)/g)].map(([, link]) => join(folder, link)));
}

describe("the reading order", () => {
  const page = read(`${folder}/reading-order.md`);
  const onCpu = itemsUnder(page, "On a CPU");
  const onGpu = itemsUnder(page, "On a GPU");

  it("has twelve steps on a CPU, and each names a source that is there", () => {
    expect(page).toMatch(/^# Twelve files$/m);
    expect(onCpu).toHaveLength(12);
    for (const files of [...onCpu, ...onGpu]) {
      expect(files.length).toBeGreaterThan(0);
      for (const path of files) expect([path, existsSync(join(root, path))]).toEqual([path, true]);
    }
  });

  it("begins with the call and ends with the world on a CPU, and has the kernel on a GPU", () => {
    expect(onCpu[0]).toEqual(["native/src/c_api/run.cpp"]);
    expect(onCpu.flat()).toContain("native/src/daemon/lifecycle/run_ends.hpp");
    expect(onGpu.flat()).toContain("cuda/device/daemon_kernel.cu");
  });

  it("says of a GPU's steps behind which of these they are", () => {
    const [, numbers] = /^## On a GPU, after ([\d, and]+) of these$/m.exec(page);
    for (const number of numbers.match(/\d+/g)) expect(Number(number)).toBeLessThanOrEqual(onCpu.length);
  });

  it.each([
    "Why did this run stall?",
    "What happens when the daemon leaves?",
    "What does a GPU do differently?",
    "Where are peers' buffers mapped?",
    "Who decides LL or direct?",
    "Where is a rank's loss noticed?",
  ])("answers: %s", (question) => {
    const row = page.split("\n").find((line) => line.startsWith(`| ${question} |`)) ?? "";
    expect(row.split("|")[2] ?? "").toMatch(/\]\(/);
  });
});

describe("the glossary", () => {
  const rows = read(`${folder}/glossary.md`)
    .split("\n")
    .filter((line) => /^\| /.test(line) && !/^\| (?:Word|---)/.test(line))
    .map((line) => line.split(" | ").map((cell) => cell.replaceAll(/^\||\|$/g, "").trim()));

  it("says of each word what it means, and the field's word or that there is none", () => {
    expect(rows.length).toBeGreaterThan(40);
    for (const row of rows) {
      expect(row).toHaveLength(3);
      for (const cell of row) expect(cell).not.toBe("");
    }
  });
});

/** Files of C, C++ and CUDA under a folder, from the root. */
function* sourcesUnder(path) {
  for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
    const inside = `${path}/${entry.name}`;
    if (entry.isDirectory()) yield* entry.name === "node_modules" ? [] : sourcesUnder(inside);
    else if (/\.(?:h|hpp|cuh|c|cpp|cu)$/.test(entry.name)) yield inside;
  }
}

/** Names of headers and sources in the comments of a text: "daemon/state/windows.hpp". */
const namedIn = (text) =>
  [...text.matchAll(/\/\/.*|\/\*[\s\S]*?\*\//g)].flatMap(([comment]) => comment.match(/[\w/]+\.(?:hpp|cuh|cpp|cu)\b/g) ?? []);

describe("the map of the source", () => {
  const page = read(`${folder}/README.md`);
  const foldersIn = (path) =>
    readdirSync(join(root, path), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `${entry.name}/`);

  it("has every folder of the native half", () => {
    const folders = [...foldersIn("native/src"), ...foldersIn("cuda")];
    expect(folders.length).toBeGreaterThan(20);
    expect(folders.filter((name) => !new RegExp(`[\\s(]${name}`).test(page))).toEqual([]);
  });
});

describe("what pages say of classes", () => {
  const words = new Set(["native", "cuda"].flatMap((path) => [...sourcesUnder(path)]).flatMap((path) => read(path).match(/\w+/g) ?? []));
  /** "Interpreter::step" and the like, whose class or member stands in no source. */
  const goneFrom = (text) =>
    [...text.matchAll(/\b([A-Z]\w*)::~?(\w+)/g)].filter((found) => !words.has(found[1]) || !words.has(found[2])).map(([name]) => name);
  const pages = ["docs", "docs/architecture", "docs/decisions"].flatMap((path) =>
    readdirSync(join(root, path))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${path}/${name}`),
  );

  it.each(pages)("is so: %s", (path) => {
    expect(goneFrom(read(path))).toEqual([]);
  });

  it("control: what was renamed is found", () => {
    expect(goneFrom("`Interpreter::connectedStep`, `DeviceWaits::letWait`, `LeaderDaemon::step`")).toEqual([
      "Interpreter::connectedStep",
      "LeaderDaemon::step",
    ]);
  });
});

describe("what comments of the native half name", () => {
  const sources = [...sourcesUnder("native"), ...sourcesUnder("cuda")];
  const isThere = (name, from) => existsSync(join(root, dirname(from), name)) || sources.some((path) => `/${path}`.endsWith(`/${name}`));

  it("is there", () => {
    const gone = sources.flatMap((path) =>
      namedIn(read(path))
        .filter((name) => !isThere(name, path))
        .map((name) => `${path} names ${name}`),
    );
    expect(sources.length).toBeGreaterThan(500);
    expect(gone).toEqual([]);
  });

  it("control: what was moved away is found", () => {
    const names = namedIn("int x;  // see daemon/windows.hpp\n/* or\n * loop/leader.hpp */\n#include <map.hpp>");
    expect(names).toEqual(["daemon/windows.hpp", "loop/leader.hpp"]);
    expect(names.map((name) => isThere(name, "native/src/base/sqe.hpp"))).toEqual([false, true]);
  });
});
