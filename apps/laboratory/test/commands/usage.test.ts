import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "./run-command.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-usage-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("a value that can't be", () => {
  it.each([
    ["an unknown benchmark", ["disk"], /unknown command 'disk'/],
    ["an unknown option", ["mpi", "--rank", "3"], /unknown option '--rank'/],
    ["sizes of half an element", ["mpi", "--bytes", "8,6"], /multiple of 4/],
    ["a list with a gap", ["mpi", "--ranks", "2,,4"], /whole number from 2 to 64/],
    ["no repetitions", ["mpi", "--repetitions", "0"], /whole number/],
    ["an unknown mode", ["mpi", "--mode", "gpu"], /caller, threads, workers/],
    ["a folder instead of a file", ["mpi", "--json", folder], /must be a file/],
  ])("ends with 2 and says what is possible: %s", async (_, args, message) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect(stderr.replaceAll("\n", " ")).toMatch(message);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});

describe("help", () => {
  it.each([[[]], [["mpi"]], [["overheads"]], [["interpreter"]]])(
    "of %j shows options and an example, within 80 columns",
    async (command) => {
      const { code, stdout, stderr } = await runCommand([...command, "--help"]);
      expect(stderr).toBe("");
      expect(stdout).toMatch(/^Usage: laboratory/);
      expect(stdout).toMatch(/\n +\$ npm run bench:/);
      expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
      expect(code).toBe(0);
    },
  );

  it.each(["mpi", "overheads", "interpreter"])("names the exit codes of %s", async (command) => {
    const { stdout } = await runCommand([command, "--help"]);
    expect(stdout).toMatch(/Exit codes:\n +0 .*\n(.*\n)* +1 .*\n(.*\n)* +2 /);
  });
});
