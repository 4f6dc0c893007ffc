// The fenced blocks of the pages of this repository: what they are written in, and where they stand.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "./paths.mjs";

const left = new Set(["node_modules", "dist", "build", ".git", ".cache", ".turbo"]);

/** Every Markdown file of the project under a folder, as full paths. */
export function* pagesUnder(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !left.has(entry.name)) yield* pagesUnder(path);
    else if (entry.isFile() && entry.name.endsWith(".md")) yield path;
  }
}

/** Names of pages that a reader is shown; notes of releases tell of what was, and need not run any more. */
export function pageNames() {
  const names = [...pagesUnder(root)].map((path) => relative(root, path));
  return names.filter((name) => !/^\.changeset\/|CHANGELOG\.md$/.test(name)).sort();
}

/** @returns {page, line, language, text}: every block of the project's pages; `line` is that of the fence, `language` "" where none is said. */
export function allBlocks() {
  return pageNames().flatMap((page) => blocksOf(readFileSync(join(root, page), "utf8")).map((block) => ({ page, ...block })));
}

export function blocksOf(markdown) {
  const blocks = [];
  let open;
  for (const [index, line] of markdown.split("\n").entries()) {
    const [, fence, language] = /^\s*(`{3,})(\S*)/.exec(line) ?? [];
    if (open === undefined && fence) open = { fence, line: index + 1, language, lines: [] };
    else if (open !== undefined && fence?.length >= open.fence.length && language === "") {
      blocks.push({ line: open.line, language: open.language, text: `${open.lines.join("\n")}\n` });
      open = undefined;
    } else open?.lines.push(line);
  }
  // A fence that is never closed would hide the rest of the page from every check.
  if (open !== undefined) blocks.push({ line: open.line, language: "unclosed", text: `${open.lines.join("\n")}\n` });
  return blocks;
}

const begins = /^(?:npx |dfccl |npm |node |cmake |pnpm |python3? |torchrun |mpirun )/;

/** @returns {page, command}: commands that sentences name, as `npx dfccl doctor` in backquotes; each once a page. */
export function mentionedCommands() {
  return pageNames().flatMap((page) => {
    const text = readFileSync(join(root, page), "utf8").replaceAll(/^ *```.*?^ *```/gms, "");
    const named = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code).filter((code) => begins.test(code));
    return [...new Set(named)].map((command) => ({ page, command }));
  });
}
