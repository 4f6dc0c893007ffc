import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readText } from "../../src/inputs/read-text.js";
import { runCommand } from "../command/run-command.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-inputs-"));
afterAll(() => rmSync(folder, { recursive: true }));
const pipe = join(folder, "pipe");
execFileSync("mkfifo", [pipe]);

describe("the text of a file", () => {
  const read = (path: string): string => readText(path, (why) => new Error(`REFUSED ${why}`));

  it("is read, also where a link leads to it", () => {
    writeFileSync(join(folder, "file"), "text");
    symlinkSync("file", join(folder, "link"));
    expect(read(join(folder, "link"))).toBe("text");
  });

  it("begins behind a byte order mark", () => {
    writeFileSync(join(folder, "marked"), "\uFEFF{}");
    expect(read(join(folder, "marked"))).toBe("{}");
  });

  it.each([
    ["a pipe", pipe, "it is a pipe, not a file"],
    ["a device", "/dev/zero", "it is a device, not a file"],
    ["a folder", folder, "it is a folder"],
    ["nothing", join(folder, "nothing"), "there is no such file"],
  ])("is refused, and why, where there is %s", (_, path, why) => {
    expect(() => read(path)).toThrow(`REFUSED ${why}`);
  });
});

it.each([[["verify"]], [["compile"]], [["report"]], [["simulate", "deadlock"]]])(
  "a name without a character is shown by %j",
  async (command) => {
    const { code, stdout, stderr } = await runCommand([...command, ""]);
    expect(stderr).toMatch(/^""[: ].*there is no such file/);
    expect([code, stdout]).toEqual([2, ""]);
  },
);

describe("what has no end is refused", () => {
  it.each([[["verify"]], [["report"]], [["compare", "/dev/zero"]], [["disorder", "--workload"]], [["disorder", "--policy"]]])(
    "by %j",
    async (command) => {
      const outcomes = await Promise.all(["/dev/zero", pipe].map((path) => runCommand([...command, path])));
      for (const { code, stdout, stderr } of outcomes) {
        expect(stderr).toMatch(/a (pipe|device)/);
        expect(stderr).not.toMatch(/\n\s+at /);
        expect([code, stdout]).toEqual([2, ""]);
      }
    },
  );
});
