import { type Candidate, drawCurve, type Parameter, type TuneResult } from "@dfccl/scheduler/tuner";
import { formatSeconds, formatTable } from "../terminal/table.js";
import { textWidth, wrap } from "../terminal/wrap.js";

const titles: Readonly<Record<Parameter, string>> = {
  initialThreshold: "initial spin threshold, visits",
  raiseFactor: "raise factor at success",
  idleVisits: "quit period, visits",
};

/** The curve of the threshold, what was fitted to it, and what was chosen. */
export function describeTuning(result: TuneResult, start: Candidate, colors: boolean): string {
  const { best, curve, fit } = result;
  const width = Math.min(60, textWidth() - 16);
  return [
    drawCurve(curve, { fit, best: best.initialThreshold, width, colors }),
    `\n${describeFit(result)}\n`,
    formatTable(
      (Object.keys(titles) as Parameter[]).map((parameter) => [titles[parameter], String(start[parameter]), String(best[parameter])]),
      ["", "before", "chosen"],
    ),
  ].join("\n");
}

function describeFit({ fit: { a, b, c, optimum, relativeError } }: TuneResult): string {
  const term = (ns: number): string => formatSeconds(ns / 1e9);
  const lowest = optimum === undefined ? "it has no lowest point" : `lowest at N = ${optimum.toPrecision(3)}`;
  const formula = `Fitted: T(N) = ${term(a)} · N + ${term(b)} / N + ${term(c)}; ${lowest}; off by ${(100 * relativeError).toFixed(0)}% on average.`;
  return wrap(formula);
}

/** What the search has come to, in one sentence. */
export function tuningVerdict({ best, gain }: TuneResult, start: Candidate): string {
  const isUnchanged = (Object.keys(titles) as Parameter[]).every((parameter) => best[parameter] === start[parameter]);
  return isUnchanged
    ? "Nothing is faster than what was there, by more than the noise."
    : `An iteration takes ${(100 * gain).toFixed(0)}% of the time that it took before.`;
}
