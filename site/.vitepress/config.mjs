// The pages are made by scripts/site.mjs, which writes build/ and what stands at its side.
import { readFileSync } from "node:fs";
import { headingName } from "../../scripts/lib/heading-names.mjs";

const sidebar = JSON.parse(readFileSync(new URL("../build/sidebar.json", import.meta.url), "utf8"));

export default {
  title: "dfccl",
  description: "Collectives that any rank issues in any order",
  srcDir: "build",
  outDir: "dist",
  cleanUrls: true,
  // A link to no page ends the build; typedoc's pages are no pages of this one's.
  ignoreDeadLinks: [/^\/api\//],
  // What stands in angle brackets in a page is text, whatever Vue would make of it.
  markdown: { html: false, anchor: { slugify: headingName } },
  head: [["link", { rel: "icon", href: "/icon.svg" }]],
  themeConfig: {
    search: { provider: "local" },
    sidebar,
    outline: [2, 3],
    nav: [
      { text: "Guide", link: "/guide" },
      { text: "TypeScript", link: "/api/index.html", target: "_self" },
      { text: "C", link: "/c-reference" },
    ],
  },
};
