import type { DeadlockFigure, ListOrder, TableRow } from "@dfccl/simulator";
import { type Chart, line, type Mark, palette, plot, points } from "../charts/chart.js";

/** Ratio over what it depends on, with the paper's points; where nothing deadlocked there is no point on a log axis. */
export function figureChart({ title, xName, curves, published }: DeadlockFigure, name: string): Chart {
  const colorOf = new Map(curves.map((curve, i) => [curve.name, palette[Math.floor(i / 2) % palette.length] ?? palette[0]]));
  const isProbability = curves.some((curve) => curve.points.some(({ x }) => x < 1));
  // Probabilities by their logarithms: a log axis would write 0.0000000001.
  const marks = (all: readonly { readonly x: number; readonly ratio: number }[]): Mark[] =>
    all
      .filter(({ ratio }) => ratio > 0)
      .map(({ x, ratio }) => ({ name: `${x}: ${percent(ratio)}%`, value: [isProbability ? Math.log10(x) : x, percent(ratio)] }));
  return plot({
    name,
    title,
    x: isProbability ? { name: xName, format: "1e{value}", scale: true } : { name: xName, type: "log" },
    y: { name: "rounds that deadlock", type: "log", format: "{value}%" },
    height: 500,
    series: [
      // Two curves of a setting, one for each order of the lists.
      ...curves.map((curve, i) => ({
        ...line(curve.name, marks(curve.points), colorOf.get(curve.name)),
        lineStyle: { type: i % 2 === 0 ? ("solid" as const) : ("dashed" as const) },
      })),
      ...[...new Set(published.map((point) => point.name))].map((of) =>
        points(
          `paper: ${of}`,
          marks(published.filter((point) => point.name === of)),
          colorOf.get(curves.find((curve) => curve.name.startsWith(of))?.name ?? ""),
        ),
      ),
    ],
  });
}

/** Table 1, row by row: the paper's ratio, its authors' counts, and ours. */
export function tableChart(rows: readonly TableRow[]): Chart {
  const at = (of: (row: TableRow) => number | undefined) =>
    rows.flatMap((row, i): Mark[] => {
      const ratio = of(row);
      return ratio === undefined || ratio === 0 ? [] : [{ name: `${rowName(row)}: ${percent(ratio)}%`, value: [i, percent(ratio)] }];
    });
  const ours = (order: ListOrder) => at(({ cycle }) => cycle[order].ratio);
  const filled = (name: string, data: readonly Mark[], color: string, symbol: string) => ({
    ...points(name, data, color),
    symbol,
    symbolSize: 10,
    itemStyle: { color },
  });
  return {
    name: "table1",
    title: "Table 1 beside ours; no mark: no deadlock",
    height: 640,
    option: {
      grid: { left: 80, right: 40, top: 64, bottom: 260 },
      xAxis: { type: "category", data: rows.map(rowName), axisLabel: { rotate: 60, interval: 0 } },
      yAxis: { type: "log", name: "rounds that deadlock", axisLabel: { formatter: "{value}%" } },
      series: [
        filled("cycles, lists take turns", ours("round-robin"), palette[0], "circle"),
        filled("cycles, group by group", ours("concatenated"), palette[5], "circle"),
        filled(
          "the public code's shortcut",
          at(({ shortcut }) => shortcut?.ratio),
          palette[6],
          "triangle",
        ),
        points(
          "paper",
          at(({ paper }) => paper ?? undefined),
          palette[1],
        ),
        points(
          "authors' counts",
          at(({ authors }) => (authors === null ? undefined : authors.deadlocks / authors.rounds)),
          palette[2],
        ),
      ],
    },
  };
}

function rowName({ name, collectives, disorderProbability: p, synchronizationProbability: s, model }: TableRow): string {
  const synchronized = model === "synchronization" ? `, s ${s.toExponential()}` : "";
  return `${name} ${collectives}, p ${p.toExponential()}${synchronized}`;
}

// Rounded, so that a log axis shows 0.55% and not 0.5500000000000001%.
function percent(ratio: number): number {
  return Number((100 * ratio).toPrecision(4));
}
