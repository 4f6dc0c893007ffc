import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { writeReports } from "../../src/peers/write-reports.js";
import { saveProgramTable } from "../../src/programs/program-table.js";
import { writeDrawings } from "../../src/simulate/write-report.js";
import { runInProcess } from "../command/in-process.js";
import { commandPath } from "../command/run-command.js";

it.each([{ args: ["perf", "all_reduce", "-g", "2", "-b", "8", "-e", "8"] }, { args: ["doctor"] }])(
  "output that a full disk refuses ends $args.0 with a sentence",
  ({ args }) => {
    const full = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [commandPath, ...args], { stdio: ["ignore", full, "pipe"], encoding: "utf8" });
    closeSync(full);
    expect(stderr).toMatch(/^(Building .*\n)?Standard output takes nothing: ENOSPC: no space left on device, write\.\n$/);
    expect(status).toBe(1);
  },
);

describe("a file on a full disk", () => {
  const told = "Nothing can be written to /dev/full (ENOSPC). Make room on its disk, or name a file on another.";

  it.each([["boxing", "P", "S1", "--shape", "8x8"], ["pipeline"], ["draw", "ring-all-reduce"], ["compile", "ring-all-reduce"]])(
    "is named by the error of %s, with a remedy",
    async (...args) => {
      const { code, stderr } = await runInProcess([...args, "-o", "/dev/full"]);
      expect(stderr.replaceAll(/\s+/g, " ")).toContain(told);
      expect(code).toBe(1);
    },
  );

  const failure = expect.objectContaining({ code: "NO_OUTPUT", facts: { path: "/dev/full", reason: "ENOSPC" }, message: told });

  it("is named by the error of a benchmark, of drawings and of a table of programs", async () => {
    expect(() => writeReports({ json: "/dev/full" }, {})).toThrow(failure);
    expect(() => writeReports({ markdown: "/dev/full" }, {}, () => "page")).toThrow(failure);
    await expect(writeDrawings({ report: "/dev/full" }, { title: "", lead: "", sections: [], madeBy: "" })).rejects.toEqual(failure);
    await expect(saveProgramTable("/dev/full", { machine: {}, savedAt: "", rules: [] })).rejects.toEqual(failure);
  });
});
