// `npm run site`: docs/ and the references of both APIs as a site in site/dist. What it takes to build is installed in site/ at the
// first run, not by the set-up. A link between pages that leads nowhere fails it.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { bold, green, line, red } from "./lib/console.mjs";
import { root } from "./lib/paths.mjs";
import { run, tail } from "./lib/run.mjs";
import { cReference } from "./site/c-reference.mjs";
import { entryPoints } from "./site/entry-points.mjs";
import { withRepositoryLinks } from "./site/repository-links.mjs";

const site = join(root, "site");
const pages = join(site, "build");
const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const address = repository.url.replace(/^git\+/, "").replace(/\.git$/, "");

line(bold("Building the site"));
await step("tools", async () => {
  if (existsSync(join(site, "node_modules", "vitepress"))) return;
  await must(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"], site);
});
await step("pages", copyPages);
await step("TypeScript reference", () => {
  const sources = entryPoints(root).map(({ source }) => join(root, source));
  return must([join(site, "node_modules", ".bin", "typedoc"), "--options", join(site, "typedoc.config.mjs"), ...sources]);
});
await step("site", () => must([join(site, "node_modules", ".bin", "vitepress"), "build", site]));
line(`site/dist has it. Look at it with: (cd site && npx vitepress preview)`);

/** docs/ as it is, but for links out of it; the C header as a page; a first page. */
function copyPages() {
  rmSync(pages, { recursive: true, force: true });
  cpSync(join(root, "docs"), pages, { recursive: true });
  for (const path of readdirSync(pages, { recursive: true }).filter((name) => name.endsWith(".md"))) {
    const file = join(pages, path);
    const text = withRepositoryLinks(readFileSync(file, "utf8"), (target) => {
      const full = resolve(dirname(join(root, "docs", path)), target);
      const isPage = relative(join(root, "docs"), full).endsWith(".md") && !relative(join(root, "docs"), full).startsWith("..");
      return isPage || target.match(/\.(svg|png)$/) ? undefined : `${address}/blob/main/${relative(root, full)}`;
    });
    writeFileSync(file, text);
  }
  const headers = ["dfccl", "counts", "groups", "status"].map((name) =>
    readFileSync(join(root, "native", "include", "dfccl", `${name}.h`), "utf8"),
  );
  writeFileSync(join(pages, "c-reference.md"), cReference(headers));
  const titles = listed();
  writeFileSync(join(pages, "index.md"), `# dfccl\n\n${titles.map(({ text, link }) => `- [${text}](${link})`).join("\n")}\n`);
  writeFileSync(join(pages, "sidebar.json"), JSON.stringify([...titles, { text: "C reference", link: "/c-reference" }]));
  writeFileSync(join(pages, "entry-points.json"), JSON.stringify(entryPoints(root)));
  mkdirSync(join(pages, "public"), { recursive: true });
  cpSync(join(site, "icon.svg"), join(pages, "public", "icon.svg"));
}

/** The pages of docs/, and the first of each folder, by their titles. */
function listed() {
  const own = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  const folders = ["processes/README.md", "architecture/README.md"].filter((name) => existsSync(join(root, "docs", name)));
  return [...own, ...folders].map((name) => {
    const [, text = name] = /^# (.+)$/m.exec(readFileSync(join(root, "docs", name), "utf8")) ?? [];
    return { text: text.replaceAll("`", ""), link: `/${name.replace(/\.md$/, "")}` };
  });
}

async function must(command, cwd = root) {
  const { code, output } = await run(command, { cwd, log: "site", timeoutMs: 600_000 });
  if (code !== 0) throw new Error(tail(output, 40));
}

async function step(name, work) {
  const before = performance.now();
  try {
    await work();
    line(`${green("✓")} ${name.padEnd(22)} ${((performance.now() - before) / 1000).toFixed(1)} s`);
  } catch (error) {
    line(`${red("✗")} ${name}\n${error.message}`);
    process.exit(1);
  }
}
