import {
  bandwidthOf,
  casesOf,
  extentOf,
  iterationStatistics,
  parseArguments,
  parseSize,
  sweep,
  type TypeName,
} from "@dfccl/collective-tests";
import { describe, expect, it } from "vitest";
import { memoryCap, warmUpSizes } from "../src/sizes.js";

describe("sizes", () => {
  it.each([
    ["8", 8],
    ["4K", 4096],
    ["1.5k", 1536],
    ["32M", 33554432],
    ["2G", 2147483648],
    ["K", undefined],
    ["1e3", undefined],
    [" ", undefined],
  ])("%j are %s bytes", (text, bytes) => expect(parseSize(text)).toBe(bytes));

  it("go by steps or by factors, and end", () => {
    expect(sweep({ minBytes: 8, maxBytes: 64, stepBytes: 1, stepFactor: 2 })).toEqual([8, 16, 32, 64]);
    expect(sweep({ minBytes: 8, maxBytes: 40, stepBytes: 16, stepFactor: 1 })).toEqual([8, 24, 40]);
    expect(sweep({ minBytes: 8, maxBytes: 40, stepBytes: 0, stepFactor: 1 })).toEqual([8]);
    expect(sweep({ minBytes: 0, maxBytes: 40, stepBytes: 0, stepFactor: 2 })).toEqual([0]);
    expect(warmUpSizes({ minBytes: 0, maxBytes: 9 })).toEqual([1, 2, 4, 8]);
  });

  it("fit into memory less 1 GiB, three times where results are checked", () => {
    expect(memoryCap(4 * 2 ** 30, true)).toBe(2 ** 30);
    expect(memoryCap(4 * 2 ** 30, false)).toBe(1.5 * 2 ** 30);
    expect(memoryCap(1, true)).toBe(0);
  });
});

describe("what a row measures, and its bandwidths", () => {
  // For 1 MiB on 4 ranks in 1 ms: count, printed bytes, algorithm bandwidth, bus bandwidth.
  const million = 2 ** 20;
  it.each([
    ["all_reduce", "float", 262144, million, 1.048576, 1.572864],
    ["reduce", "float", 262144, million, 1.048576, 1.048576],
    ["broadcast", "int8", million, million, 1.048576, 1.048576],
    ["sendrecv", "double", 131072, million, 1.048576, 1.048576],
    ["all_gather", "float", 65536, million, 1.048576, 0.786432],
    ["reduce_scatter", "half", 131072, million, 1.048576, 0.786432],
    ["alltoall", "float", 65536, million, 1.048576, 0.786432],
    ["gather", "float", 65536, million, 1.048576, 0.786432],
    ["scatter", "float", 65536, million, 1.048576, 0.786432],
    ["hypercube", "float", 65536, million, 0.786432, 0.786432],
    ["alltoallv", "float", 65536, 1048512, 1.048512, 0.786384],
  ] as const)("%s of %s", (name, type, count, bytes, algorithm, bus) => {
    const extent = extentOf(name, million, 4, type);
    expect(extent).toMatchObject({ count, bytes });
    const bandwidth = bandwidthOf(name, extent, 4, 1000);
    expect(bandwidth.algorithm).toBeCloseTo(algorithm, 9);
    expect(bandwidth.bus).toBeCloseTo(bus, 9);
  });

  it.each([
    ["int8", 1000, 240], // 250, in whole 16
    ["half", 1000, 120],
    ["float", 1000, 60],
    ["double", 1000, 30],
    ["float", 63, 0],
  ] as const)("rounds a rank's share of %s down to whole 16 bytes", (type: TypeName, bytes, count) => {
    expect(extentOf("all_gather", bytes, 4, type).count).toBe(count);
  });

  it("runs types, operators, roots and sizes in the reference's order", () => {
    const parsed = parseArguments(["-g", "2", "-b", "8", "-e", "16", "-f", "2", "-d", "all", "-o", "all", "-r", "-1"]);
    if (parsed.kind !== "run") throw new Error("help");
    const reduced = casesOf("reduce", parsed.options);
    expect(reduced).toHaveLength(12 * 6 * 2 * 2);
    expect(reduced.slice(0, 3).map(({ type, op, root, bytes }) => [type, op, root, bytes])).toEqual([
      ["int8", "sum", 0, 8],
      ["int8", "sum", 0, 16],
      ["int8", "sum", 1, 8],
    ]);
    expect(casesOf("all_gather", parsed.options)[0]).toMatchObject({ op: "none", root: -1 });
    expect(casesOf("hypercube", { ...parsed.options, ngpus: 3 })).toEqual([]);
  });
});

it("sums up iterations as the reference does", () => {
  const times = Array.from({ length: 200 }, (_, i) => 200 - i);
  expect(iterationStatistics(times)).toEqual({
    min: 1,
    max: 200,
    avg: 100.5,
    p50: 101,
    p95: 190,
    p99: 198,
    stdev: expect.closeTo(57.7343, 3),
    cv: expect.closeTo(57.447, 3),
  });
  expect(iterationStatistics([5])).toMatchObject({ p50: 5, p99: 5, stdev: 0, cv: 0 });
  expect(iterationStatistics([])).toBeUndefined();
});
