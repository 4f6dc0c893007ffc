import type { EChartsCoreOption } from "echarts/core";
import { meaningOf } from "../colors.js";
import { formatValue } from "../format.js";
import type { Axis, Chart } from "../model.js";

/**
 * A chart as ECharts draws it. Series of hidden groups are left out.
 * @param colors - of the whole page, see colorsOf().
 */
export function chartOption(
  chart: Chart,
  hidden: ReadonlySet<string>,
  isDark: boolean,
  colors: ReadonlyMap<string, string>,
): EChartsCoreOption {
  const ink = isDark ? "#c9cedb" : "#3a404c";
  const line = isDark ? "#303643" : "#d9dde5";
  const shown = chart.series
    .filter(({ group }) => !hidden.has(group))
    .map((series) => ({ series, color: colors.get(meaningOf(chart, series)) }));
  const isBars = chart.kind === "bars";
  return {
    animation: false,
    aria: { enabled: true },
    textStyle: { fontFamily: "system-ui, sans-serif", color: ink },
    grid: { left: 30, right: 28, top: 48, bottom: 34, containLabel: true },
    legend: { type: "plain", top: 0, textStyle: { color: ink } },
    tooltip: {
      trigger: isBars ? "axis" : "item",
      axisPointer: { type: isBars ? "shadow" : "cross", label: { show: false } },
      formatter: isBars ? undefined : (point: unknown) => pointText(chart, point),
      valueFormatter: (value: unknown) => formatValue(value as number, chart.y.format),
      confine: true,
    },
    // Bars lie on their side: their names are long.
    xAxis: { ...(isBars ? axis(chart.y, ink, line) : axis(chart.x, ink, line)), nameGap: 26 },
    yAxis: isBars ? { ...axis(chart.x, ink, line), inverse: true } : axis(chart.y, ink, line),
    series: shown.map(({ series, color }) => ({
      name: series.name,
      type: isBars ? "bar" : "line",
      data: series.points,
      color,
      symbolSize: 6,
      lineStyle: { width: 2, type: series.isDashed ? "dashed" : "solid" },
      emphasis: { focus: "series" },
    })),
  };
}

/** Between an axis and its name, for labels as long as they get. */
const nameGaps: Readonly<Record<Axis["format"], number>> = {
  bytes: 26,
  text: 26,
  micros: 52,
  nanos: 26,
  number: 44,
  gigabytesPerSecond: 78,
};

function axis({ name, isLog, format, categories }: Axis, ink: string, line: string): Readonly<Record<string, unknown>> {
  return {
    type: categories ? "category" : isLog ? "log" : "value",
    ...(categories ? { data: categories } : {}),
    ...(isLog && format === "bytes" ? { logBase: 2 } : {}),
    name,
    nameLocation: "middle",
    nameGap: nameGaps[format],
    ...(isLog && format === "bytes" ? { min: "dataMin", max: "dataMax" } : {}),
    nameTextStyle: { color: ink },
    axisLabel: { color: ink, hideOverlap: true, formatter: (value: number | string) => formatValue(value, categories ? "text" : format) },
    axisLine: { lineStyle: { color: line } },
    splitLine: { show: !categories, lineStyle: { color: line } },
  };
}

function pointText({ x, y }: Chart, point: unknown): string {
  const { seriesName, value } = point as { readonly seriesName: string; readonly value: readonly [number, number] };
  // Names come from a file that somebody else may have written.
  const name = seriesName.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `${name}<br><b>${formatValue(value[1], y.format)}</b> at ${formatValue(value[0], x.format)}`;
}
