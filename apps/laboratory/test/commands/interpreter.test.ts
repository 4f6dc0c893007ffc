import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeClone, makeFakeClone } from "./fake-clone.js";
import { type Finished, runCommand } from "./run-command.js";

let clone: FakeClone;
beforeEach(() => {
  clone = makeFakeClone();
  clone.tool("cmake", "exit 0");
});
afterEach(() => clone.remove());

function measure(...args: string[]): Promise<Finished> {
  return runCommand(["interpreter", ...args], clone);
}

/** Stands for the benchmark: keeps its arguments, and a copy of the program that it is given. */
function benchmarkWrites(...lines: readonly object[]): void {
  writeFileSync(join(clone.root, "lines"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const keep = `echo "$@" >> "${clone.root}/arguments"; /bin/cp "$2" "${clone.root}/program"`;
  clone.program("interpreter_bench", `${keep}; /bin/cat "${clone.root}/lines"`);
}
const row = { ranks: 4, bytes: 2 ** 20, engineUs: 420, handUs: 400, ratio: 1.05, wrong: 0 };

describe("npm run bench:interpreter", () => {
  it("hands over a compiled ring, and writes figures and a page", async () => {
    benchmarkWrites({ probe: true, cores: 2, coreRoundTripNs: 85 }, row);
    const page = join(clone.root, "page.md");
    const { code, stdout } = await measure("-r", "4", "-b", "1M", "-n", "3", "--json", "-", "--markdown", page);
    const { wrong: _, ...measured } = row;
    expect(JSON.parse(stdout)).toMatchObject({ header: { probe: { coreRoundTripNs: 85 } }, rows: [measured] });
    expect(readFileSync(page, "utf8")).toContain("| 1 MiB | 4 | 420 µs | 400 µs | 1.05 |");
    expect(readFileSync(join(clone.root, "arguments"), "utf8")).toMatch(/--bytes 1048576 --turns 3 --budget 0.05 --probe yes\n$/);
    // Four programs, each after its length.
    const program = readFileSync(join(clone.root, "program"));
    let [at, count] = [0, 0];
    for (; at < program.length; count += 1) at += 4 + program.readUInt32LE(at);
    expect([at, count]).toEqual([program.length, 4]);
    expect(code).toBe(0);
  });

  it.each([
    ["wrong results", [{ ...row, wrong: 3 }], /3 elements of 1048576 bytes are wrong/],
    ["nothing measured", [{ probe: true }], /did not measure everything/],
  ])("fails for %s", async (_, lines, message) => {
    benchmarkWrites(...lines);
    const { code, stderr } = await measure("-r", "4", "-b", "1M");
    expect(stderr.replaceAll("\n", " ")).toMatch(message);
    expect(code).toBe(1);
  });

  it("refuses what is no number of ranks", async () => {
    const { code, stderr } = await measure("-r", "1");
    expect(stderr).toMatch(/whole number from 2 to 64/);
    expect(code).toBe(2);
  });
});
