import { checkList, checkNumber, checkObject } from "@dfccl/primitives";

/** One value of a parameter and what it cost. */
export interface CurvePoint {
  readonly value: number;
  readonly ns: number;
}

/**
 * T(N) = a · N + b / N + c: what waiting costs, what being preempted costs, and the rest. All three are at least 0.
 * @see DFCCL, section 4.5, expression 2
 */
export interface CurveFit {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  /** Where the fitted curve is lowest, √(b / a); undefined where it has no lowest point. */
  readonly optimum: number | undefined;
  /** Root mean square of (fitted − measured) / measured. */
  readonly relativeError: number;
}

type Coefficients = readonly [a: number, b: number, c: number];

export function predict(fit: Pick<CurveFit, "a" | "b" | "c">, value: number): number {
  checkFit("fit", fit);
  checkNumber("value", value);
  const { a, b, c } = fit;
  return a * value + b / value + c;
}

/**
 * Least squares over relative errors, so that the cheap points, which matter, weigh as much as the expensive ones.
 * @param points - values and times above 0. With fewer than three of them several curves fit, and one is returned.
 */
export function fitCurve(points: readonly CurvePoint[]): CurveFit {
  checkPoints(points);
  // A negative cost makes no sense. Of the eight ways to hold some coefficients at 0, one is the best without any below.
  let best: CurveFit = { a: 0, b: 0, c: 0, optimum: undefined, relativeError: 1 };
  for (let mask = 1; mask < 8; mask += 1) {
    const used = [0, 1, 2].filter((term) => (mask >> term) & 1);
    const coefficients = solveTerms(points, used);
    if (coefficients === undefined || coefficients.some((value) => value < 0)) continue;
    const [a, b, c] = coefficients;
    const relativeError = errorOf(points, { a, b, c });
    // A larger set of terms has to earn its place, or rounding alone would decide.
    if (relativeError < best.relativeError * (1 - 1e-9)) {
      best = { a, b, c, optimum: a > 0 && b > 0 ? Math.sqrt(b / a) : undefined, relativeError };
    }
  }
  return best;
}

/** @throws {InvalidArgumentError} */
export function checkPoints(points: readonly CurvePoint[]): void {
  checkList("points", points, "a list such as [{ value: 64, ns: 1200 }]");
  points.forEach((point, index) => {
    checkObject(`points[${index}]`, point, "an object such as { value: 64, ns: 1200 }");
    for (const field of ["value", "ns"] as const) checkNumber(`points[${index}].${field}`, point[field]);
  });
}

/** @throws {InvalidArgumentError} */
export function checkFit(argument: string, fit: Pick<CurveFit, "a" | "b" | "c">): void {
  checkObject(argument, fit, "what fitCurve() returns");
  for (const field of ["a", "b", "c"] as const) checkNumber(`${argument}.${field}`, fit[field]);
}

function errorOf(points: readonly CurvePoint[], fit: Pick<CurveFit, "a" | "b" | "c">): number {
  const squares = points.map(({ value, ns }) => ((predict(fit, value) - ns) / ns) ** 2);
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / points.length);
}

// The rows of the weighted problem: term / ns, to equal 1.
function solveTerms(points: readonly CurvePoint[], used: readonly number[]): Coefficients | undefined {
  const rows = points.map(({ value, ns }) => {
    const terms = [value / ns, 1 / value / ns, 1 / ns];
    return used.map((term) => terms[term] ?? 0);
  });
  // N and 1/N differ by orders of magnitude: columns of length 1 keep the equations well conditioned.
  const lengths = used.map((_, column) => Math.hypot(...rows.map((row) => row[column] ?? 0)));
  const unit = rows.map((row) => row.map((cell, column) => cell / (lengths[column] ?? 1)));
  const dot = (i: number, j: number): number => unit.reduce((sum, row) => sum + (row[i] ?? 0) * (row[j] ?? 0), 0);
  const equations = used.map((_, i) => [...used.map((_, j) => dot(i, j)), unit.reduce((sum, row) => sum + (row[i] ?? 0), 0)]);
  const solution = solve(equations);
  if (solution === undefined) return undefined;
  const coefficients: [number, number, number] = [0, 0, 0];
  for (const [column, term] of used.entries()) coefficients[term] = (solution[column] ?? 0) / (lengths[column] ?? 1);
  return coefficients;
}

/** Gaussian elimination with pivoting of `n` rows of `n + 1` cells; undefined where the rows depend on each other. */
function solve(equations: readonly (readonly number[])[]): number[] | undefined {
  const rows = equations.map((row) => [...row]);
  for (const column of rows.keys()) {
    const candidates = rows.slice(column).sort((a, b) => Math.abs(b[column] ?? 0) - Math.abs(a[column] ?? 0));
    rows.splice(column, rows.length - column, ...candidates);
    const pivotRow = rows[column] ?? [];
    const pivot = pivotRow[column] ?? 0;
    if (Math.abs(pivot) < 1e-12) return undefined;
    for (const [index, row] of rows.entries()) {
      if (index === column) continue;
      const factor = (row[column] ?? 0) / pivot;
      rows[index] = row.map((cell, j) => cell - factor * (pivotRow[j] ?? 0));
    }
  }
  return rows.map((row, i) => (row.at(-1) ?? 0) / (row[i] ?? 1));
}
