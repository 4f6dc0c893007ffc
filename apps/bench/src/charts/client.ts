/// <reference lib="dom" />
import type { EChartsOption } from "echarts";
import { init } from "./chart-library.js";

/** What the page brings along for each chart. */
interface DrawnChart {
  readonly name: string;
  readonly height: number;
  readonly option: EChartsOption;
}

// What runs in the browser: draws the same charts again, now with tooltips and legends that switch curves on and off.
const charts = JSON.parse(document.getElementById("charts")?.textContent ?? "[]") as readonly DrawnChart[];
for (const { name, height, option } of charts) {
  const figure = document.querySelector<HTMLElement>(`[data-chart="${CSS.escape(name)}"]`);
  if (figure === null) continue;
  figure.replaceChildren();
  figure.style.height = `${height}px`;
  const chart = init(figure, null, { renderer: "svg" });
  chart.setOption(option);
  addEventListener("resize", () => chart.resize());
}
