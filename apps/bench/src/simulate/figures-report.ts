import type { DeadlockFigure } from "@dfccl/simulator";
import type { ReportTable } from "../charts/html-report.js";
import { formatTable } from "../terminal/table.js";
import { formatRatio } from "./deadlock-report.js";

/** A row for each value of the axis; a dash where a curve has no point. */
export function figureTable({ xName, curves, published }: DeadlockFigure): ReportTable {
  const xs = [...new Set([...curves.flatMap(({ points }) => points.map(({ x }) => x)), ...published.map(({ x }) => x)])].sort(
    (a, b) => a - b,
  );
  const of = (points: readonly { readonly x: number; readonly ratio: number }[], x: number): string => {
    const point = points.find((candidate) => candidate.x === x);
    return point === undefined ? "–" : formatRatio(point.ratio);
  };
  const names = [...new Set(published.map(({ name }) => name))];
  return {
    header: [xName, ...curves.map(({ name }) => name), ...names.map((name) => `paper: ${name}`)],
    rows: xs.map((x) => [
      x < 1 ? x.toExponential().replace("+", "") : x.toLocaleString("en-US"),
      ...curves.map(({ points }) => of(points, x)),
      ...names.map((name) =>
        of(
          published.filter((point) => point.name === name),
          x,
        ),
      ),
    ]),
  };
}

/** Curve under curve: as columns they would be wider than a terminal. */
export function describeFigures(figures: readonly DeadlockFigure[]): string {
  return figures
    .map((figure) => {
      const { header, rows } = figureTable(figure);
      const [xName = "", ...names] = header;
      const lines = names.map((name, i) => [name, ...rows.map((row) => row[i + 1] ?? "–")]);
      return `${figure.title}\n${formatTable(lines, [xName, ...rows.map(([x = ""]) => x)])}`;
    })
    .join("\n\n");
}
