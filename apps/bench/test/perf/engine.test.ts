import { collectiveFacts, collectiveNames } from "@dfccl/collective-tests";
import { afterEach, describe, expect, it } from "vitest";
import { cellsOf, perf } from "./native-loop.js";

const isLong = process.env.DFCCL_TEST_TIER === "long";
const rankCounts = isLong ? [1, 2, 3, 4, 5, 6, 7, 8] : [3, 8];
const sizes = isLong ? ["-b", "8", "-e", "256K", "-f", "32"] : ["-b", "1000", "-e", "40000", "-f", "40"];

const timeoutMs = isLong ? 900_000 : 120_000;

describe.each([...collectiveNames])("%s_perf on the engine", { timeout: timeoutMs }, (name) => {
  it.each(rankCounts)("gives the right bits on %d ranks: all types and operators, in place and out", async (ranks) => {
    const { hasRoot } = collectiveFacts(name);
    const outcome = await perf(name, [
      "-g",
      String(ranks),
      ...sizes,
      "-n",
      "2",
      "-d",
      "all",
      "-o",
      "all",
      ...(hasRoot ? ["-r", "-1"] : []),
    ]);
    const rows = cellsOf(outcome);
    if (name === "hypercube" && !Number.isInteger(Math.log2(ranks))) {
      expect(rows).toEqual([]);
      return;
    }
    const expected = 12 * (collectiveFacts(name).reduces ? 6 : 1) * (hasRoot ? ranks : 1) * (isLong ? 4 : 2);
    expect(rows).toHaveLength(expected);
    expect(new Set(rows.map((row) => row[8]))).toEqual(new Set(["0"]));
    const isCheckedInPlace = !["alltoall", "alltoallv", "sendrecv"].includes(name);
    expect(new Set(rows.map((row) => row[12]))).toEqual(new Set([isCheckedInPlace ? "0" : "N/A"]));
    expect(outcome.code).toBe(0);
  });
});

it.each([
  ["threads of their own for the ranks", ["-t", "4"]],
  ["threads with several ranks each, opened in parallel", ["-t", "2", "-g", "2", "-p", "1"]],
  ["buffers that begin one element after a boundary", ["-g", "4", "-u", "1"]],
  ["several operations an iteration, waiting after each", ["-g", "4", "-m", "3", "-z", "1"]],
  ["several rounds of checking and of everything", ["-g", "4", "-c", "3", "-N", "2"]],
  ["sixteen at a time, in random orders, one rank late", ["-g", "4", "--concurrent", "16", "--order", "random", "--delay", "1:50"]],
])("is right with %s", async (_, args) => {
  const outcome = await perf("all_reduce", [...args, "-b", "8", "-e", "64K", "-f", "32", "-n", "5"]);
  const rows = cellsOf(outcome);
  expect(rows.length).toBe(args.includes("-N") ? 6 : 3);
  for (const row of rows) expect([row[8], row[12]]).toEqual(["0", "0"]);
  expect(outcome.code).toBe(0);
});

describe("a library that is wrong on purpose", () => {
  afterEach(() => {
    delete process.env.DFCCL_PERF_FAULT;
  });

  it.each([
    ["one bit of one rank's result", "flip:1", "all_reduce"],
    ["one bit of one rank's result", "flip:2", "alltoallv"],
    ["one rank's input", "missing:2", "all_reduce"],
    ["one rank's input", "missing:3", "reduce_scatter"],
    ["one rank's input", "missing:0", "all_gather"],
    ["two chunks that changed places", "swap:0", "all_gather"],
    ["two chunks that changed places", "swap:3", "all_reduce"],
  ] as const)("is caught: %s (%s, %s)", async (_, fault, name) => {
    process.env.DFCCL_PERF_FAULT = fault;
    const outcome = await perf(name, ["-g", "4", "-b", "4K", "-e", "4K", "-d", "all", "-n", "2"]);
    for (const row of cellsOf(outcome)) expect(Number(row[8])).toBeGreaterThan(0);
    expect(outcome.lines).toContainEqual(expect.stringMatching(/^# Out of bounds values : \d+ FAILED$/));
    expect(outcome.code).toBe(7);
  });

  it.each(["sum", "prod", "max", "min", "avg", "mulsum"])("is caught without one rank's input to %s", async (op) => {
    process.env.DFCCL_PERF_FAULT = "missing:2";
    const outcome = await perf("all_reduce", ["-g", "4", "-b", "4K", "-e", "4K", "-d", "all", "-o", op, "-n", "2"]);
    for (const row of cellsOf(outcome)) expect(Number(row[8])).toBeGreaterThan(0);
    expect(outcome.code).toBe(7);
  });

  it.each([
    ["driven by one thread", ["-g", "4"]],
    ["with threads of their own", ["-t", "4"]],
  ])("ends with 4 and the name of the rank that never comes, %s", async (_, ranks) => {
    process.env.DFCCL_PERF_FAULT = "die:2";
    const failed = perf("all_reduce", [...ranks, "-b", "8", "-e", "8", "-T", "1"]);
    await expect(failed).rejects.toMatchObject({
      code: "TIMED_OUT",
      exitCode: 4,
      message: expect.stringContaining("rank 2 has not submitted it"),
    });
  });
});

it("times a million operations of a library that does nothing, whose cost is the loop's own", async () => {
  const outcome = await perf("all_reduce", ["-g", "1", "--backend", "noop", "-b", "8", "-e", "8", "-n", "1000000", "-c", "0"]);
  expect(cellsOf(outcome)).toHaveLength(1);
  expect(outcome.code).toBe(0);
});

describe("ranks in several processes", () => {
  afterEach(() => {
    delete process.env.DFCCL_PERF_FAULT;
  });
  const noop = ["--backend", "noop", "-b", "4K", "-e", "64K", "-f", "16", "-n", "3"];

  it("are counted together: what a library that does nothing leaves wrong, in both", async () => {
    const one = cellsOf(await perf("all_reduce", [...noop, "-g", "6"]));
    const several = cellsOf(await perf("all_reduce", [...noop, "-t", "2", "--processes", "3"]));
    expect(several).toHaveLength(2);
    const wrong = (rows: string[][]): (string | undefined)[][] => rows.map((row) => [row[8], row[12]]);
    expect(wrong(several)).toEqual(wrong(one));
    expect(Number(several[0]?.[8])).toBeGreaterThan(0);
  });

  it("end with what ended one of them", async () => {
    process.env.DFCCL_PERF_FAULT = "die:3";
    const failed = perf("all_reduce", [...noop, "-c", "0", "-g", "2", "--processes", "2"]);
    await expect(failed).rejects.toMatchObject({
      code: "BACKEND_FAILED",
      exitCode: 1,
      message: expect.stringContaining("process 1 of 2 was ended by signal 9"),
    });
  });
});
