import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { escaped } from "../drawing/svg.js";
import { type Chart, styled } from "./chart.js";
import { renderSvg } from "./render-svg.js";

/** Rows of cells under a header; all but the first column are figures. */
export interface ReportTable {
  readonly title?: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface ReportSection {
  readonly heading: string;
  readonly text?: string;
  readonly table?: ReportTable;
  readonly chart?: Chart;
  /** A drawing that is ready. It goes in as an image of its own, because its style sheet would reach the others. */
  readonly svg?: string;
}

export interface Report {
  readonly title: string;
  readonly lead: string;
  readonly sections: readonly ReportSection[];
  /** What made it: the command, rounds and seed. */
  readonly madeBy: string;
}

/** One file that needs no other: charts are drawn in it already, and can be pointed at where scripts run. */
export function htmlReport({ title, lead, sections, madeBy }: Report): string {
  const charts = sections.flatMap(({ chart }) => chart ?? []);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #1f2937; background: #f8fafc; }
main { max-width: 1040px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 0 0 8px; }
.lead, footer { color: #4b5563; } footer { font-size: 14px; } code { font-family: ui-monospace, monospace; }
section { background: #fff; border: 1px solid #e5e7eb; border-radius: 10px; padding: 20px 24px; margin: 20px 0; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 8px 0; }
th, td { padding: 4px 12px; text-align: right; white-space: nowrap; border-bottom: 1px solid #eef2f7; }
th:first-child, td:first-child { text-align: left; padding-left: 0; } th { font-weight: 600; color: #374151; }
figure { margin: 12px 0 0; overflow-x: auto; } figure svg, img { max-width: 100%; height: auto; display: block; }
</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p class="lead">${escaped(lead)}</p>
${sections.map(sectionHtml).join("\n")}
<footer>Made by <code>${escaped(madeBy)}</code></footer>
</main>
${charts.length === 0 ? "" : scripts(charts)}
</body>
</html>
`;
}

function sectionHtml({ heading, text, table, chart, svg }: ReportSection): string {
  return [
    `<section>\n<h2>${escaped(heading)}</h2>`,
    text === undefined ? "" : `<p>${escaped(text)}</p>`,
    table === undefined ? "" : tableHtml(table),
    chart === undefined
      ? ""
      : `<figure data-chart="${escaped(chart.name)}" style="min-height: ${chart.height}px">\n${renderSvg(untitled(chart))}</figure>`,
    svg === undefined
      ? ""
      : `<figure><img src="data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}" alt="${escaped(heading)}"></figure>`,
    "</section>",
  ]
    .filter(Boolean)
    .join("\n");
}

// The section's heading is its title.
function untitled(chart: Chart): Chart {
  return { ...chart, option: { ...chart.option, title: { show: false } } };
}

function tableHtml({ title, header, rows }: ReportTable): string {
  const cells = (tag: string, row: readonly string[]): string =>
    `<tr>${row.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join("")}</tr>`;
  return [
    '<div class="scroll"><table>',
    title === undefined ? "" : `<caption>${escaped(title)}</caption>`,
    `<thead>${cells("th", header)}</thead>`,
    `<tbody>\n${rows.map((row) => cells("td", row)).join("\n")}\n</tbody>`,
    "</table></div>",
  ].join("");
}

// The charts are drawn already; this draws them again where scripts run (client.ts).
function scripts(charts: readonly Chart[]): string {
  const dist = join(dirname(createRequire(import.meta.url).resolve("dfccl/package.json")), "dist");
  const client = readFileSync(join(dist, "chart-client.js"), "utf8");
  const data = JSON.stringify(charts.map((chart) => ({ name: chart.name, height: chart.height, option: styled(untitled(chart)) })));
  return `<script id="charts" type="application/json">${data.replaceAll("<", "\\u003c")}</script>
<script>${client.replaceAll("</script", "<\\/script")}</script>`;
}
