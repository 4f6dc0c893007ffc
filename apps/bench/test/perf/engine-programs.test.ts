import { join } from "node:path";
import { casesOf, isMeasured, type MeasuredRow, type PerfOptions, parseArguments } from "@dfccl/collective-tests";
import { describe, expect, it } from "vitest";
import { nativePrograms } from "../../src/perf/find-programs.js";
import { cpuRanks, openNative } from "../../src/perf/native-backend.js";
import { programArguments } from "../../src/perf/program-arguments.js";

const ranks = 4;

function optionsOf(size: string): PerfOptions {
  const parsed = parseArguments(["-g", `${ranks}`, "-b", size, "-e", size, "-n", "3", "-T", "20"]);
  if (parsed.kind !== "run") throw new Error("help");
  return parsed.options;
}

describe.each(["alltoallv", "sendrecv", "alltoall", "hypercube"] as const)("programs for %s that are cut for 32 blocks", (collective) => {
  it.each([
    ["a size that they divide", "98304"],
    ["a size that they don't", "98316"],
    ["no elements at all", "0"],
  ])("move the same as others: %s", async (_, size) => {
    const options = optionsOf(size);
    const backend = openNative({
      name: "cpu",
      version: "",
      ...cpuRanks(ranks),
      command: join(await nativePrograms("perf"), "perf_bench"),
      args: ["--backend", "cpu"],
      prepare: programArguments([32]),
    });
    const run = { collective, options, args: [] };
    const rows: MeasuredRow[] = [];
    await backend.measure({ run, cases: casesOf(collective, options), warmUps: [], cycles: 1 }, (row) => rows.push(row));
    expect(rows).toHaveLength(1);
    for (const { outOfPlace } of rows) expect(isMeasured(outOfPlace) && outOfPlace.wrong).toBe(0);
  });
});
