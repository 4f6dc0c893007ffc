import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { links } from "../checks/links.mjs";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dfccl-links-"));
  page("package.json", JSON.stringify({ repository: { url: "git+https://example.invalid/a/b.git" } }));
  page("docs/guide.md", "# Guide\n## What `it` does, and why\n## What it does\n## What it does\n");
});
afterEach(() => rmSync(folder, { recursive: true }));

function page(path, text) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

it("takes what is there: pages, headings also of the same name, folders, other sites, and code for what it is", () => {
  page(
    "README.md",
    [
      "# Top",
      "[a](docs/guide.md) [b](docs/guide.md#what-it-does-and-why) [c](docs/guide.md#what-it-does-1) [d](docs) [e](#top)",
      "[f](https://example.invalid/a/b/blob/main/docs/guide.md) [g](https://nodejs.org/nowhere) `[h](nowhere.md)`",
      "```md\n[i](nowhere.md)\n```",
    ].join("\n"),
  );
  expect(links(folder)).toEqual({ passed: 2, failed: 0, details: "" });
});

it.each([
  ["[a](docs/gone.md)", "docs/gone.md leads nowhere"],
  ["![a](docs/gone.png)", "docs/gone.png leads nowhere"],
  ["[a](docs/guide.md#gone)", "docs/guide.md#gone has no such heading"],
  ["[a](#gone)", "#gone has no such heading"],
  ["[a](https://example.invalid/a/b/blob/main/docs/gone.md)", "blob/main/docs/gone.md leads nowhere"],
])("names %s", (text, fault) => {
  page("README.md", `# Top\n${text}\n`);
  const { failed, details } = links(folder);
  expect(failed).toBe(1);
  expect(details).toContain(`README.md: `);
  expect(details).toContain(fault);
});

it("takes no relative link on a page that npm shows", () => {
  page("packages/core/README.md", "[a](../../docs/guide.md)\n");
  expect(links(folder).details).toContain("packages/core/README.md: ../../docs/guide.md is relative");
});

it("takes relative links on the page of a package that npm never shows", () => {
  page("apps/tool/package.json", JSON.stringify({ private: true }));
  page("apps/tool/README.md", "# Tool\n[a](../../docs/guide.md)\n");
  expect(links(folder)).toMatchObject({ failed: 0 });
  page("apps/tool/package.json", JSON.stringify({}));
  expect(links(folder).details).toContain("../../docs/guide.md is relative");
});
