import { checkInteger, checkOptions, checkText, InvalidArgumentError, type OptionNames } from "@dfccl/primitives";
import { type CurveFit, type CurvePoint, checkFit, checkPoints, predict } from "./fit-curve.js";

export interface CurveTextOptions {
  /** The fitted curve, drawn with dots. */
  readonly fit?: CurveFit;
  /** The value to mark as chosen. */
  readonly best?: number;
  /** Columns and rows of the plot itself; 60 by 12 unless given. */
  readonly width?: number;
  readonly height?: number;
  /** Name of the horizontal axis. */
  readonly label?: string;
  /** ANSI colours; false unless given. */
  readonly colors?: boolean;
}

const optionNames: OptionNames<CurveTextOptions> = { fit: true, best: true, width: true, height: true, label: true, colors: true };

const marks = { fitted: ".", measured: "o", best: "X" };
const ansi: Readonly<Record<string, string>> = {
  [marks.fitted]: "\u001b[2m",
  [marks.measured]: "\u001b[36m",
  [marks.best]: "\u001b[1;32m",
};

/**
 * A curve as text: time upwards, the parameter to the right on a logarithmic scale. `o` is measured, `.` fitted, `X` the
 * chosen value. Lines end without spaces.
 * @param points - at least one, with values above 0, in any order.
 * @throws {InvalidArgumentError}, UnknownOptionError
 */
export function drawCurve(points: readonly CurvePoint[], options: CurveTextOptions = {}): string {
  checkPoints(points);
  if (points.length === 0) throw new InvalidArgumentError("points", points, "at least one");
  checkOptions("options", options, optionNames, "an object such as { width: 60, height: 12 }");
  const { fit, best, width = 60, height = 12, label = "initial spin threshold (visits)", colors = false } = options;
  if (fit !== undefined) checkFit("fit", fit);
  checkInteger("width", width, 1, 1000);
  checkInteger("height", height, 1, 1000);
  checkText("label", label, "a text");
  const values = points.map((point) => point.value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const [lowest, highest] = [Math.min(...points.map((point) => point.ns)), Math.max(...points.map((point) => point.ns))];
  const column = (value: number): number => scale(Math.log(value), Math.log(least), Math.log(most), width);
  const row = (ns: number): number => height - 1 - scale(ns, lowest, highest, height);

  const cells = Array.from({ length: height }, () => Array.from({ length: width }, () => " "));
  const put = (x: number, ns: number, mark: string): void => {
    const line = cells[row(ns)];
    if (line !== undefined) line[x] = mark;
  };
  for (let x = 0; fit !== undefined && x < width; x += 1) {
    const ns = predict(fit, least * (most / least) ** (x / Math.max(width - 1, 1)));
    if (ns >= lowest && ns <= highest) put(x, ns, marks.fitted);
  }
  for (const { value, ns } of points) put(column(value), ns, marks.measured);
  for (const { value, ns } of points) if (value === best) put(column(value), ns, marks.best);

  const labelled = new Map([lowest, (lowest + highest) / 2, highest].map((ns) => [row(ns), formatTime(ns)]));
  const margin = Math.max(...[...labelled.values()].map((text) => text.length));
  const paint = (cell: string): string => (colors && ansi[cell] !== undefined ? `${ansi[cell]}${cell}\u001b[0m` : cell);
  const lines = cells.map((line, y) => {
    const time = (labelled.get(y) ?? "").padStart(margin);
    const text = line.join("").trimEnd();
    return `${time} |${[...text].map(paint).join("")}`;
  });
  const axis = `${" ".repeat(margin)} +${"-".repeat(width)}`;
  const indent = " ".repeat(margin + 2);
  return [...lines, axis, indent + tickLine([least, Math.sqrt(least * most), most], column, width), indent + label].join("\n");
}

// Position of `value` among `count` cells from `from` to `to`.
function scale(value: number, from: number, to: number, count: number): number {
  return to > from ? Math.round(((value - from) / (to - from)) * (count - 1)) : 0;
}

// Each number stands under its column; the last ends there, so that it stays inside the plot. One without room is left out.
function tickLine(ticks: readonly number[], column: (value: number) => number, width: number): string {
  let line = "";
  for (const tick of new Set(ticks)) {
    const text = formatValue(tick);
    const at = Math.max(Math.min(column(tick), width - text.length), 0);
    if (line === "" || at > line.length) line = line.padEnd(at) + text;
  }
  return line;
}

function formatValue(value: number): string {
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toPrecision(3);
}

function formatTime(ns: number): string {
  if (ns < 1e3) return `${ns.toPrecision(3)} ns`;
  if (ns < 1e6) return `${(ns / 1e3).toPrecision(4)} us`;
  return ns < 1e9 ? `${(ns / 1e6).toPrecision(4)} ms` : `${(ns / 1e9).toPrecision(4)} s`;
}
