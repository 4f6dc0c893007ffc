import { formatValue } from "./format.js";
import type { Chart, Report, Section } from "./model.js";

/**
 * The whole report in one file: no network, no other file. Each drawing stands beside its figures as a table.
 * @param script - what draws, as one script for a browser.
 */
export function reportPage(report: Report, script: string): string {
  const data = JSON.stringify(report).replaceAll("<", "\\u003c");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(report.title)}</title>
<link rel="icon" href="data:,">
<style>
${style}
</style>
</head>
<body>
<header>
<h1>${escapeHtml(report.title)}</h1>
<div id="groups" role="group" aria-label="What is shown"></div>
</header>
<main>
${report.sections.map(sectionHtml).join("\n")}
</main>
<script type="application/json" id="report">${data}</script>
<script>
${script.replaceAll("</script", "<\\/script")}
</script>
</body>
</html>
`;
}

function sectionHtml({ id, title, facts, charts }: Section): string {
  return `<section id="${escapeHtml(id)}" aria-labelledby="${escapeHtml(id)}-title">
<h2 id="${escapeHtml(id)}-title">${escapeHtml(title)}</h2>
<ul class="facts">${facts.map((fact) => `<li>${escapeHtml(fact)}</li>`).join("")}</ul>
<div class="charts">
${charts.map(chartHtml).join("\n")}
</div>
</section>`;
}

function chartHtml(chart: Chart): string {
  return `<figure>
<figcaption>${escapeHtml(chart.title)}</figcaption>
<div class="chart" id="${escapeHtml(chart.id)}" role="img" aria-label="${escapeHtml(`${chart.title}; the table below has the figures`)}"></div>
<details><summary>Figures</summary><div class="table"><table data-chart="${escapeHtml(chart.id)}">
${tableHtml(chart)}
</table></div></details>
</figure>`;
}

function tableHtml({ x, y, series }: Chart): string {
  const labels =
    x.categories ??
    [...new Set(series.flatMap(({ points }) => points.flatMap((point) => (Array.isArray(point) ? [point[0] as number] : []))))].sort(
      (a, b) => a - b,
    );
  const head = `<tr><th scope="col">${escapeHtml(x.name)}</th>${series.map(({ name }) => `<th scope="col">${escapeHtml(name)}</th>`).join("")}</tr>`;
  const values = series.map(
    ({ points }) => new Map(points.map((point, i) => (Array.isArray(point) ? [point[0] as number, point[1]] : [i, point]))),
  );
  const rows = labels.map((label, i) => {
    const cells = values.map((of) => {
      const value = of.get(typeof label === "number" ? label : i) as number | null | undefined;
      return `<td${value === null || value === undefined ? "" : ` data-value="${value}"`}>${escapeHtml(formatValue(value, y.format))}</td>`;
    });
    return `<tr><th scope="row">${escapeHtml(formatValue(label, x.format))}</th>${cells.join("")}</tr>`;
  });
  return `<thead>${head}</thead>\n<tbody>\n${rows.join("\n")}\n</tbody>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

const style = `:root { --paper: #fff; --ink: #1c1f26; --quiet: #5b6372; --line: #d9dde5; --accent: #2456c9; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171d; --ink: #e8eaf0; --quiet: #9aa3b5; --line: #303643; --accent: #8fb0ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 90rem; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; border-top: 1px solid var(--line); padding-top: 1.5rem; }
header { display: flex; flex-wrap: wrap; gap: .5rem 2rem; align-items: baseline; justify-content: space-between; position: sticky; top: 0; z-index: 1; background: var(--paper); padding: .5rem 0; }
#groups { display: flex; flex-wrap: wrap; gap: .25rem 1rem; } #groups label { cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.facts { color: var(--quiet); font-size: .875rem; padding-left: 1.2rem; margin: 0 0 1rem; overflow-wrap: anywhere; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(34rem, 100%), 1fr)); gap: 1.5rem; }
figure { margin: 0; border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; min-width: 0; break-inside: avoid; }
figcaption { font-weight: 600; } .chart { height: 22rem; overflow: hidden; } summary { cursor: pointer; color: var(--quiet); font-size: .875rem; }
.table { overflow-x: auto; } table { border-collapse: collapse; font-size: .8rem; font-variant-numeric: tabular-nums; width: 100%; }
th, td { text-align: right; padding: .15rem .5rem; border-bottom: 1px solid var(--line); font-weight: 400; } thead th { font-weight: 600; } tr > :first-child { text-align: left; white-space: nowrap; }
@media print { :root { --paper: #fff; --ink: #000; --quiet: #333; --line: #bbb; } body { padding: 0; max-width: none; } header { position: static; } .charts { display: block; } figure { margin-bottom: 1rem; } #groups { display: none; } }`;
