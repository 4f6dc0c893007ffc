import * as tests from "@dfccl/collective-tests";
import { describe, expect, it } from "vitest";
import { testHostileValues } from "../../../scripts/lib/hostile-values.js";
import { fakeBackend } from "./fake-backend.js";

const { extentOf, parseArguments, readReport } = tests;
const parsed = parseArguments(["-b", "8", "-e", "16", "-g", "2"]);
if (parsed.kind !== "run") throw new Error("these are no options");
const { options } = parsed;
const cases = tests.casesOf("all_reduce", options);
const opened = await fakeBackend().open(options);
const context = () => ({
  backends: [fakeBackend()],
  environment: tests.readEnvironment({}),
  environmentLines: ["A=1"],
  print: () => undefined,
  onProgress: () => undefined,
  signal: new AbortController().signal,
});
const report = readReport(JSON.stringify({ version: 3, config: {}, results: [] }), "test.json");
const times = Array.from({ length: 40 }, (_, i) => 100 + (i % 7));

testHostileValues(
  tests,
  {
    casesOf: () => ["all_reduce", options],
    isPowerOfTwo: () => [8],
    bandwidthOf: () => ["all_reduce", extentOf("all_reduce", 1024, 2, "float"), 2, 10],
    collectiveFacts: () => ["all_reduce"],
    extentOf: () => ["all_reduce", 1024, 2, "float"],
    isCollectiveName: () => ["all_reduce"],
    compareReports: () => [report, report, 5],
    isRegression: () => [{ verdict: "same" }],
    ratioOfMedians: () => [times, times],
    readReport: () => [JSON.stringify({ version: 3, config: {}, results: [] }), "test.json"],
    readEnvironment: () => [{}],
    parseArguments: () => [["-b", "8"]],
    usage: () => ["all_reduce_perf"],
    parseSize: () => ["8K"],
    sweep: () => [{ minBytes: 8, maxBytes: 64, stepBytes: 1, stepFactor: 2 }],
    iterationStatistics: () => [times],
    dataTypeOf: () => ["float"],
    reduceOpOf: () => ["sum"],
    ranksOf: () => [options],
    isMeasured: () => [{ refused: "why" }],
    runTest: () => [{ collective: "all_reduce", options, args: ["all_reduce_perf"] }, context()],
    openBackend: () => [[fakeBackend()], "cpu", options, new AbortController().signal],
    turnsOf: () => [opened, { run: { collective: "all_reduce", options, args: [] }, cases, warmUps: cases, cycles: 1 }],
  },
  {
    throwing: true,
    depth: 3,
    shallow: { runTest: "one of the options is the name of a file, which would be written" },
  },
);

describe("a name that every object knows", () => {
  it.each(["__proto__", "constructor", "toString"])("is no collective, type or operator: %s", (name) => {
    const refused = expect.objectContaining({ code: "INVALID_ARGUMENT" });
    expect(() => tests.collectiveFacts(name as never)).toThrow(refused);
    expect(() => extentOf(name as never, 8, 2, "float")).toThrow(refused);
    expect(() => tests.dataTypeOf(name as never)).toThrow(refused);
    expect(() => tests.reduceOpOf(name as never)).toThrow(refused);
  });
});

describe("a backend of the caller's that is none", () => {
  const opens = (made: unknown) => ({ name: "cpu", open: async () => made }) as never;

  it.each([
    [null],
    [undefined],
    [{}],
    [{ measure: 1 }],
    [{ ...opened, memoryBytes: "x" }],
    [{ ...opened, devices: 1 }],
    [{ ...opened, startTurns: 1 }],
  ])("is refused with a sentence where it opens %o", async (made) => {
    const refused = expect.objectContaining({ code: "INVALID_ARGUMENT", remedy: expect.stringMatching(/./) });
    await expect(tests.openBackend([opens(made)], "cpu", options)).rejects.toThrow(refused);
  });
});
