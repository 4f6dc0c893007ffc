// The site, built and looked at in a real browser: every page opens without a fault, every link and picture leads somewhere, code is shown as
// the pages have it, the search finds. In the long tier, because a build takes half a minute and fetches its tools the first time.
// By hand: node scripts/checks/site.mjs
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { browserProgram, openBrowser } from "../lib/browser.mjs";
import { blocksOf } from "../lib/page-blocks.mjs";
import { root } from "../lib/paths.mjs";
import { run } from "../lib/run.mjs";
import { entryPoints } from "../site/entry-points.mjs";
import { serve } from "../site/serve.mjs";

const dist = join(root, "site", "dist");

export async function site() {
  const program = browserProgram();
  if (program === undefined) return { skipped: 1, details: "A browser is missing. Type: apt-get install chromium" };
  const { code, output } = await run(["node", "scripts/site.mjs"], { log: "site", timeoutMs: 1_200_000 });
  if (code !== 0) return { failed: 1, details: output };
  const server = await serve(dist);
  const browser = await openBrowser(program);
  try {
    return await lookAt(server.url, browser.page);
  } finally {
    await browser.close();
    server.close();
  }
}

/** @returns a check for each page, and one for each thing that a reader does. */
export async function lookAt(url, page, folder = dist) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".html") && name !== "404.html");
  const own = names.filter((name) => !name.startsWith("api/"));
  const seen = new Map();
  const checks = [];
  for (const name of own) checks.push([name, () => pageFaults(url, page, name, seen)]);
  // Of the TypeScript reference, which typedoc makes all in one way, only the modules' pages are opened, and what those link to must be there.
  for (const name of names.filter((path) => /^api\/(?:index|modules\/.*)\.html$/.test(path)))
    checks.push([name, () => openFaults(url, page, name, seen)]);
  checks.push(["links", () => linkFaults(seen, new Map(names.map((name) => [addressOf(name), join(folder, name)])), folder)]);
  checks.push(["search", () => searchFaults(url, page)]);
  checks.push(["TypeScript reference", () => referenceFaults(url, page)]);
  const result = { passed: 0, failed: 0, details: "" };
  for (const [name, faultsOf] of checks) {
    const faults = await faultsOf().catch((error) => [error.message]);
    result[faults.length === 0 ? "passed" : "failed"] += 1;
    for (const fault of faults) result.details += `${name}: ${fault}\n`;
  }
  return result;
}

const addressOf = (name) => `/${name.replace(/(?:^|(?<=\/))index\.html$/, "").replace(/^(?!api\/)(.*)\.html$/, "$1")}`;

/** Opens a page, and keeps where it leads. */
async function openFaults(url, page, name, seen) {
  await page.open(url + addressOf(name));
  const found = await page.run(() => ({
    links: [...document.querySelectorAll("a[href]")].map(({ href }) => href),
    pictures: [...document.images].filter((image) => !image.complete || image.naturalWidth === 0).map(({ src }) => src),
    headings: document.querySelectorAll("h1").length,
  }));
  for (const link of found.links) if (link.startsWith(url)) seen.set(link.slice(url.length), name);
  const faults = page.faults();
  for (const picture of found.pictures) faults.push(`${picture} shows nothing`);
  if (found.headings === 0) faults.push("it has no heading");
  return faults;
}

async function pageFaults(url, page, name, seen) {
  const faults = await openFaults(url, page, name, seen);
  const source = join(root, "site", "build", name.replace(/\.html$/, ".md"));
  const expected = blocksOf(readFileSync(source, "utf8")).map(({ text }) => text.trimEnd());
  const shown = await page.run(() =>
    [...document.querySelectorAll("main div[class*=language-] pre code")].map((code) => ({
      text: code.textContent.trimEnd(),
      height: code.getBoundingClientRect().height,
    })),
  );
  if (shown.length !== expected.length) faults.push(`${shown.length} blocks of code are shown, of ${expected.length}`);
  for (const [index, text] of expected.entries()) {
    if (shown[index] && shown[index].text !== text) faults.push(`this block is shown otherwise: ${text.slice(0, 60)}`);
    if (shown[index]?.height === 0) faults.push(`this block can't be seen: ${text.slice(0, 60)}`);
  }
  return faults;
}

/** @param pages - by address, their files. */
async function linkFaults(seen, pages, folder) {
  const files = new Set(readdirSync(folder, { recursive: true }).map((name) => `/${name}`));
  const ids = new Map();
  const idsOf = (address) => {
    if (!ids.has(address))
      ids.set(address, new Set([...readFileSync(pages.get(address), "utf8").matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id)));
    return ids.get(address);
  };
  const faults = [];
  for (const [link, from] of seen) {
    const [path, heading] = link.split("#").map(decodeURIComponent);
    const address = pages.has(path) ? path : addressOf(path.slice(1));
    if (!pages.has(address) && !files.has(path)) faults.push(`${link} leads nowhere, in ${from}`);
    else if (heading && pages.has(address) && !idsOf(address).has(heading)) faults.push(`${link} has no such heading, in ${from}`);
  }
  if (seen.size < 300) faults.push(`only ${seen.size} links were found`);
  return faults;
}

/** What a reader types, and which page has to be among what is found. */
const searches = [
  ["agreeOnSurvivors", "/processes/missing-rank"],
  ["dfcclWaitOnStream", "/gpus"],
  ["deadlock", "/simulator"],
];

async function searchFaults(url, page) {
  const faults = [];
  for (const [word, wanted] of [...searches, ["nothingiscalledso", undefined]]) {
    await page.open(`${url}/guide`);
    const found = await search(page, word);
    if (wanted === undefined) {
      if (found.length > 0) faults.push(`"${word}" finds ${found[0]}`);
    } else if (!found.some((link) => link.startsWith(url + wanted)))
      faults.push(`"${word}" finds ${found.join(", ") || "nothing"}, and not ${wanted}`);
    else {
      await page.press("Enter");
      await page.run(waitFor, "location.pathname !== '/guide'");
      const at = await page.run(() => location.href);
      if (at !== found[0]) faults.push(`"${word}" and Enter lead to ${at}, not to ${found[0]}`);
    }
  }
  return [...faults, ...page.faults()];
}

/** Opens the search, types, and returns the addresses that it offers. */
async function search(page, word) {
  await page.run(waitFor, "document.querySelector('#local-search button')");
  await page.run(() => document.querySelector("#local-search button").click());
  await page.run(waitFor, "document.querySelector('#localsearch-input') === document.activeElement");
  await page.type(word);
  await page.run(waitFor, "document.querySelector('.VPLocalSearchBox a.result, .VPLocalSearchBox .no-results')");
  return page.run(() => [...document.querySelectorAll(".VPLocalSearchBox a.result")].map(({ href }) => href));
}

/** In the page: until an expression is true, at most ten seconds. */
async function waitFor(expression) {
  const end = performance.now() + 10_000;
  // biome-ignore lint/security/noGlobalEval: it runs in the page, where nothing else can be handed over.
  while (!globalThis.eval(expression)) {
    if (performance.now() > end) throw new Error(`never came to be: ${expression}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function referenceFaults(url, page) {
  await page.open(`${url}/api/index.html`);
  const text = await page.run(() => document.body.textContent);
  return entryPoints(root).flatMap(({ name }) => (text.includes(name) ? [] : [`${name} isn't in it`]));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { details = "", ...counts } = await site();
  process.stdout.write(`${details}\n${JSON.stringify(counts)}\n`);
  process.exit(counts.failed ? 1 : 0);
}
