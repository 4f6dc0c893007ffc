/// <reference lib="dom" />
import { BarChart, LineChart } from "echarts/charts";
import { AriaComponent, GridComponent, LegendComponent, TooltipComponent } from "echarts/components";
import { type EChartsType, init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { colorsOf } from "../colors.js";
import type { Chart, Report } from "../model.js";
import { chartOption } from "./option.js";

use([BarChart, LineChart, GridComponent, LegendComponent, TooltipComponent, AriaComponent, SVGRenderer]);

// What runs in the browser: draws every chart, and again when colours, width or what is shown change.
const report = JSON.parse(document.getElementById("report")?.textContent ?? "{}") as Report;
const charts = report.sections.flatMap((section) => section.charts);
const colors = colorsOf(charts);
const hidden = new Set<string>();
const drawn = new Map<string, EChartsType>();
const darkness = matchMedia("(prefers-color-scheme: dark)");
let isPrinting = false;

function draw(chart: Chart): void {
  const element = document.getElementById(chart.id);
  if (element === null) return;
  drawn.get(chart.id)?.dispose();
  const instance = init(element, null, { renderer: "svg" });
  instance.setOption(chartOption(chart, hidden, darkness.matches && !isPrinting, colors));
  drawn.set(chart.id, instance);
}

function drawAll(): void {
  for (const chart of charts) draw(chart);
  document.body.dataset.drawn = String(drawn.size);
}

/** A box for each backend: by mouse or keyboard, it goes from all drawings at once. */
function addToggles(): void {
  const groups = [...new Set(charts.flatMap(({ series }) => series.map(({ group }) => group)))];
  const host = document.getElementById("groups");
  if (host === null || groups.length < 2) return;
  for (const group of groups) {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = true;
    box.name = group;
    box.addEventListener("change", () => {
      if (box.checked) hidden.delete(group);
      else hidden.add(group);
      drawAll();
    });
    label.append(box, ` ${group}`);
    host.append(label);
  }
}

addToggles();
drawAll();
darkness.addEventListener("change", drawAll);
addEventListener("resize", () => {
  for (const instance of drawn.values()) instance.resize();
});
addEventListener("beforeprint", () => {
  isPrinting = true;
  drawAll();
});
addEventListener("afterprint", () => {
  isPrinting = false;
  drawAll();
});
