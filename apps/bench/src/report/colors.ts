import type { Chart, Series } from "./model.js";

// Told apart by people who see colours differently, on light and on dark paper (Okabe and Ito).
const palette = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d3b", "#7a7f8a"];
// Turned by this angle, no hue comes near one before it for long.
const goldenAngle = 137.508;

/** Colours of all that a page draws, by what they stand for: whatever it is, it has one colour in all of its charts, and that alone. */
export function colorsOf(charts: readonly Chart[]): ReadonlyMap<string, string> {
  const meanings = new Set(charts.flatMap((chart) => chart.series.map((series) => meaningOf(chart, series))));
  return new Map([...meanings].map((meaning, i) => [meaning, palette[i] ?? `hsl(${Math.round(i * goldenAngle) % 360} 60% 48%)`]));
}

/** What the colour of a series stands for: its group or, where several lines of a chart are of one group, the line. */
export function meaningOf({ series: all }: Chart, series: Series): string {
  if (series.line !== undefined) return series.line;
  const isOneGroup = all.every(({ group }) => group === series.group);
  const isOneLine = all.filter(({ isDashed }) => isDashed !== true).length < 2;
  return isOneGroup && !isOneLine ? series.name : series.group;
}
