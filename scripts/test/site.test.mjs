// What makes the site's pages; that vitepress and typedoc take them is for `npm run site` to say, and what a reader finds there for
// scripts/checks/site.mjs.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { root } from "../lib/paths.mjs";
import { cReference } from "../site/c-reference.mjs";
import { entryPoints } from "../site/entry-points.mjs";
import { withRepositoryLinks } from "../site/repository-links.mjs";

it("links out of the pages lead to the repository, headings included; code and addresses stay", () => {
  const page = "[a](../README.md#use) `[b](../b.md)` [c](c.md) [d](https://d.example/../e)\n```md\n[f](../f.md)\n```\n[g](../g.md)\n";
  const address = (path) => (path.startsWith("..") ? `https://x.example/${path.slice(3)}` : undefined);
  expect(withRepositoryLinks(page, address)).toBe(
    "[a](https://x.example/README.md#use) `[b](../b.md)` [c](c.md) [d](https://d.example/../e)\n```md\n[f](../f.md)\n```\n[g](https://x.example/g.md)\n",
  );
});

const headers = ["dfccl", "counts", "groups", "status"].map((name) => readFileSync(`native/include/dfccl/${name}.h`, "utf8"));

it("the C reference has every function of the headers once, in code", () => {
  const declared = headers.flatMap((header) =>
    [...header.matchAll(/^(?:dfcclResult_t|const char\*) (dfccl\w+)\(/gm)].map(([, name]) => name),
  );
  const code = [...cReference(headers).matchAll(/^```c\n(.*?)^```$/gms)].map(([, block]) => block).join("");
  const shown = [...code.matchAll(/^(?:dfcclResult_t|const char\*) (dfccl\w+)\(/gm)].map(([, name]) => name);
  expect(declared.length).toBeGreaterThan(80);
  expect(shown).toEqual(declared);
});

it("the C reference has sections, whole structs and no guards", () => {
  const page = cReference(headers);
  expect(page).toContain("## Worlds and ranks");
  expect(page).toContain("} dfcclWorldConfig_t;");
  expect(page).not.toMatch(/#ifdef|#include|extern "C"/);
});

it("the TypeScript reference is of all that can be imported, subpaths included", () => {
  const sources = Object.fromEntries(entryPoints(root).map(({ name, source }) => [name, source]));
  expect(sources).toMatchObject({
    "@dfccl/core": "packages/core/src/index.ts",
    "@dfccl/compiler/algorithms": "packages/compiler/src/algorithms/index.ts",
    "@dfccl/scheduler/tuner": "packages/scheduler/src/tuner/index.ts",
    "@dfccl/train": "apps/train/src/index.ts",
  });
  expect(Object.keys(sources)).toHaveLength(12);
});
