// Whole programs of the pages that a newcomer reads first run as they stand there, and print what their comments say.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { exampleFolder } from "../lib/example-folder.ts";
import { root } from "../lib/paths.mjs";

const folder = exampleFolder(pathToFileURL(join(root, "examples", "/")));

/** Blocks that open a world themselves; the others show a part of a program. */
const programsOf = (page) => {
  const blocks = [...readFileSync(join(root, page), "utf8").matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);
  return blocks.filter((code) => code.includes("import ") && code.includes("openWorld("));
};

describe.each(["README.md", "docs/guide.md"])("the programs of %s", (page) => {
  const programs = programsOf(page);

  it("are there", () => {
    expect(programs).not.toEqual([]);
  });

  it.each(programs.map((code, i) => [i, code]))("run: number %s", (i, code) => {
    const file = join(folder, `${page.replaceAll(/\W/g, "-")}-${i}.ts`);
    writeFileSync(file, code);
    const printed = execFileSync(process.execPath, ["--import", "tsx", file], { cwd: root, encoding: "utf8" });
    const promised = [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => `${text}\n`);
    expect(printed).toBe(promised.join(""));
  });
});
