// Links between the pages of this repository lead somewhere, headings included. By hand: node scripts/checks/links.mjs
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { headingName } from "../lib/heading-names.mjs";
import { pagesUnder } from "../lib/page-blocks.mjs";
import { root } from "../lib/paths.mjs";

/** @returns a check for each page; a fault names page and link. */
export function links(folder = root) {
  const { repository } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const address = repository.url.replace(/^git\+/, "").replace(/\.git$/, "");
  const sum = { passed: 0, failed: 0, details: "" };
  for (const page of pagesUnder(folder)) {
    const name = relative(folder, page);
    // npm shows these pages, and resolves what is relative in them from the repository's root, if at all.
    const isPublished = /^(?:packages|apps)\/[^/]+\/README\.md$/.test(name) && !isPrivate(dirname(page));
    const faults = targetsOf(readFileSync(page, "utf8")).flatMap((target) => {
      const path = inRepository(target, address);
      if (path === undefined) return [];
      if (path === target && isPublished && !target.startsWith("#"))
        return [`${target} is relative: npm's page needs ${address}/blob/main/…`];
      const fault = faultOf(path === target ? dirname(page) : folder, page, path);
      return fault ? [`${target} ${fault}`] : [];
    });
    if (faults.length === 0) sum.passed += 1;
    else {
      sum.failed += 1;
      sum.details += faults.map((fault) => `${name}: ${fault}\n`).join("");
    }
  }
  return sum;
}

function isPrivate(folder) {
  const manifest = join(folder, "package.json");
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).private === true;
}

/** What a page links to or shows, code left out. */
function targetsOf(markdown) {
  const text = withoutCode(markdown).replaceAll(/`[^`\n]*`/g, "`");
  const inText = [...text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)].map(([, target]) => target);
  const inTags = [...text.matchAll(/<(?:img|a)\b[^>]*\b(?:src|href)="([^"]+)"/g)].map(([, target]) => target);
  return [...inText, ...inTags];
}

/** @returns the path of a link that stays in this repository: as it is where it is relative, from the root where it is not. */
function inRepository(target, address) {
  const own = new RegExp(`^${address.replaceAll(".", "\\.")}/(?:blob|tree)/main/(.+)$`).exec(target);
  if (own) return own[1];
  return /^[a-z][a-z+.-]*:/i.test(target) ? undefined : target;
}

function faultOf(from, page, link) {
  const [path, heading] = link.split("#");
  const file = path === "" ? page : resolve(from, decodeURIComponent(path));
  if (!existsSync(file)) return "leads nowhere";
  if (!heading || !file.endsWith(".md") || statSync(file).isDirectory()) return undefined;
  return headingsOf(readFileSync(file, "utf8")).has(heading) ? undefined : "has no such heading";
}

/** The names by which headings can be reached, as GitHub makes them. */
function headingsOf(markdown) {
  const seen = new Map();
  const names = [...withoutCode(markdown).matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, heading]) => {
    const name = headingName(heading);
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  });
  return new Set(names);
}

const withoutCode = (markdown) => markdown.replaceAll(/^ *```.*?^ *```/gms, "");

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { details, ...counts } = links();
  process.stdout.write(`${details}${JSON.stringify(counts)}\n`);
  process.exit(counts.failed ? 1 : 0);
}
