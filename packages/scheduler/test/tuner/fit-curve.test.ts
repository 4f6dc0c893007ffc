import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitCurve, predict } from "../../src/tuner/index.js";
import { randomFrom } from "../../src/tuner/statistics.js";
import { seed } from "../arbitraries.js";

const values = Array.from({ length: 13 }, (_, i) => 2 ** i);
const coefficient = fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 1000, noNaN: true }));

describe("the fit of T(N) = a·N + b/N + c", () => {
  it("finds the coefficients that made the points, zeros included", () => {
    fc.assert(
      fc.property(coefficient, coefficient, fc.double({ min: 1, max: 1e5, noNaN: true }), (a, b, c) => {
        const points = values.map((value) => ({ value, ns: predict({ a, b, c }, value) }));
        const fit = fitCurve(points);
        expect(fit.relativeError).toBeLessThan(1e-6);
        for (const { value, ns } of points) expect(predict(fit, value) / ns).toBeCloseTo(1, 5);
      }),
      { seed },
    );
  });

  it("has its optimum at √(b/a), also with 5% noise", () => {
    const random = randomFrom(3);
    const points = values.map((value) => ({ value, ns: (10 * value + 1e5 / value + 500) * (0.95 + 0.1 * random()) }));
    const { optimum = 0, relativeError } = fitCurve(points);
    expect(optimum).toBeGreaterThan(80);
    expect(optimum).toBeLessThan(125);
    expect(relativeError).toBeLessThan(0.05);
  });

  it("takes no cost below zero and says how badly a curve of another shape fits", () => {
    const fit = fitCurve(values.map((value) => ({ value, ns: 1000 / Math.sqrt(value) })));
    expect(Math.min(fit.a, fit.b, fit.c)).toBeGreaterThanOrEqual(0);
    expect(fit.relativeError).toBeGreaterThan(0.1);
  });

  it("has no optimum where the curve only falls or only rises", () => {
    expect(fitCurve(values.map((value) => ({ value, ns: 3 * value + 10 }))).optimum).toBeUndefined();
    expect(fitCurve(values.map((value) => ({ value, ns: 50 / value + 10 }))).optimum).toBeUndefined();
  });
});
