import { compareReports, isRegression, type ReadReport, ratioOfMedians, readReport } from "@dfccl/collective-tests";
import { describe, expect, it } from "vitest";

/** Times that scatter by 2% around a mean, the same every time. */
function times(mean: number, count = 40): number[] {
  return Array.from({ length: count }, (_, i) => mean * (1 + 0.02 * Math.sin(i * 2.4)));
}

function report(sides: readonly { size?: number; times?: number[]; time?: number; nwrong?: number; backend?: string }[]): ReadReport {
  const results = sides.map(({ size = 8, times: samples, time = 1, nwrong = 0, backend }) => ({
    ...{ size, count: 2, type: "float", redop: "sum", root: "    -1" },
    out_of_place: { time, alg_bw: 1, bus_bw: 1, nwrong },
    ...(samples ? { out_of_place_per_iter: { times_us: samples } } : {}),
    in_place: null,
    ...(backend ? { backend } : {}),
  }));
  return readReport(JSON.stringify({ version: 3, config: {}, results }), "test.json");
}

it("a report may begin with a byte order mark", () => {
  expect(readReport(`\uFEFF${JSON.stringify({ version: 3, config: {}, results: [] })}`, "test.json").results).toEqual([]);
});

describe("an interval", () => {
  it("holds the true ratio, is narrow for many samples, and the same every time", () => {
    const interval = ratioOfMedians(times(100), times(120, 60));
    expect(interval?.ratio).toBeCloseTo(1.2, 1);
    expect(interval?.low).toBeGreaterThan(1.15);
    expect(interval?.high).toBeLessThan(1.25);
    expect(ratioOfMedians(times(100), times(120, 60))).toEqual(interval);
  });

  it("is wide where times scatter, and none where there are few", () => {
    const scattered = [1, 9, 2, 8, 3, 7];
    const interval = ratioOfMedians(scattered, scattered);
    expect(interval?.low).toBeLessThan(0.6);
    expect(interval?.high).toBeGreaterThan(1.6);
    expect(ratioOfMedians([1, 1, 1, 1], [2, 2, 2, 2, 2])).toBeUndefined();
  });
});

describe("two runs", () => {
  it.each([
    ["same", times(100), times(103)],
    ["slower", times(100), times(112)],
    ["faster", times(100), times(90)],
    ["unsure", [100], [200]],
    // As many samples as above, but a median that could as well be the other's.
    ["same", [90, 95, 100, 105, 110, 60], [100, 130, 90, 160, 95, 112]],
  ] as const)("that are %s", (verdict, a, b) => {
    const [row] = compareReports(report([{ times: [...a] }]), report([{ times: [...b] }]), 0.05);
    expect(row).toMatchObject({ verdict, place: "out of place", size: 8 });
  });

  it("are compared by their cycles where there are no iterations", () => {
    const cycles = (mean: number): ReadReport => report(times(mean, 6).map((time) => ({ time })));
    expect(compareReports(cycles(10), cycles(20), 0.05)).toMatchObject([{ verdict: "slower", ratio: expect.closeTo(2, 1) }]);
  });

  it("tell what was lost: a right result, a case, a backend", () => {
    const a = report([{ times: times(1) }, { size: 16, times: times(1) }, { size: 32, times: times(1), backend: "mpi" }]);
    const b = report([
      { times: times(1), nwrong: 2 },
      { size: 32, times: times(1), backend: "cpu" },
    ]);
    const rows = compareReports(a, b, 0.05);
    expect(rows.map(({ verdict }) => verdict)).toEqual(["wrong", "gone", "gone"]);
    expect(rows.every(isRegression)).toBe(true);
  });
});

it.each([
  ["{", /isn't JSON/],
  ["[]", /no results/],
  ['{"version":4,"config":{},"results":[]}', /version is 4/],
  ['{"version":{"toString":1},"config":{},"results":[]}', /version is an object/],
  ['{"version":3,"config":{},"results":[{"size":8}]}', /result 0/],
])("a file that holds %s is refused", (text, message) => {
  expect(() => readReport(text, "a.json")).toThrow(
    expect.objectContaining({ code: "BAD_REPORT", message: expect.stringMatching(message) }),
  );
});
