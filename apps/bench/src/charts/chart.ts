import type { EChartsOption, SeriesOption } from "echarts";

/** A chart as plain data: it can be drawn here as SVG, or by a browser that has the library. */
export interface Chart {
  /** Of its file: "valley". */
  readonly name: string;
  /** What is shown, in one line. */
  readonly title: string;
  readonly height: number;
  /** No functions in it: it travels as JSON. */
  readonly option: EChartsOption;
}

export const chartWidth = 960;

/** Colours that differ for everybody's eyes, after Okabe and Ito. */
export const palette = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666"] as const;

interface PlotAxis {
  readonly name: string;
  readonly type?: "log" | "value";
  readonly logBase?: number;
  readonly min?: number;
  readonly max?: number;
  /** "{value}%" and the like. */
  readonly format?: string;
  /** It needn't begin at 0. */
  readonly scale?: boolean;
}

interface Plot {
  readonly name: string;
  readonly title: string;
  readonly x: PlotAxis;
  readonly y: PlotAxis;
  readonly series: readonly SeriesOption[];
  readonly height?: number;
}

/** One pair of axes with a legend below. */
export function plot({ name, title, x, y, series, height = 480 }: Plot): Chart {
  return {
    name,
    title,
    height,
    option: {
      grid: { left: 80, right: 40, top: 64, bottom: 130 },
      xAxis: { ...axis(x), nameLocation: "middle", nameGap: 30 },
      yAxis: { ...axis(y), nameLocation: "end" },
      series: [...series],
    },
  };
}

interface Bars {
  readonly name: string;
  readonly title: string;
  readonly categories: readonly string[];
  readonly valueName: string;
  /** A value for each category; null: no bar. */
  readonly series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
}

/** Horizontal bars, the first category on top. */
export function bars({ name, title, categories, valueName, series }: Bars): Chart {
  return {
    name,
    title,
    height: 150 + 22 * categories.length * series.length,
    option: {
      grid: { left: 220, right: 60, top: 56, bottom: 84 },
      xAxis: { type: "value", name: valueName, nameLocation: "middle", nameGap: 28 },
      yAxis: { type: "category", data: [...categories], inverse: true },
      series: series.map(({ name: of, values }) => ({ type: "bar" as const, name: of, data: [...values], barMaxWidth: 18 })),
      tooltip: { formatter: "{b}: {c}" },
    },
  };
}

function axis({ name, type = "value", logBase, min, max, format, scale = false }: PlotAxis) {
  return {
    type,
    name,
    scale,
    ...(scale ? { minInterval: 1 } : {}),
    ...(logBase === undefined ? {} : { logBase }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(format === undefined ? {} : { axisLabel: { formatter: format } }),
    splitLine: { lineStyle: { color: "#e5e7eb" } },
  } as const;
}

/** A point, and what a tooltip says about it. */
export interface Mark {
  readonly name: string;
  readonly value: readonly [x: number, y: number];
}

type Point = readonly [x: number, y: number];

function marks(data: readonly (Mark | Point)[]) {
  return data.map((item) => {
    const { name, value } = "name" in item ? item : { name: item.join(": "), value: item };
    return { name, value: [...value] };
  });
}

/** A line through points. */
export function line(name: string, data: readonly (Mark | Point)[], color?: string) {
  return {
    type: "line" as const,
    name,
    data: marks(data),
    symbolSize: 6,
    ...(color === undefined ? {} : { color }),
  };
}

/** Points of someone else's: large and hollow. */
export function points(name: string, data: readonly (Mark | Point)[], color: string = palette[6]) {
  return {
    type: "scatter" as const,
    name,
    data: marks(data),
    symbol: "diamond",
    symbolSize: 14,
    itemStyle: { color: "#ffffff", borderColor: color, borderWidth: 2.5 },
    z: 5,
  };
}

/** What all charts have in common, around an option of its own. */
export function styled({ title, option }: Chart): EChartsOption {
  return {
    animation: false,
    backgroundColor: "#ffffff",
    color: [...palette],
    textStyle: { fontFamily: "system-ui, sans-serif" },
    title: { text: title, left: "center", textStyle: { fontSize: 16 } },
    // Wide gaps: names are measured with another font than they are shown in.
    legend: { bottom: 8, left: "center", width: "92%", itemGap: 24 },
    tooltip: { trigger: "item", formatter: "{a}<br>{b}" },
    ...option,
  };
}
