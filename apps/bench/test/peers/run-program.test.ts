import { describe, expect, it } from "vitest";
import { jsonLines, runProgram } from "../../src/peers/run-program.js";

const shell = (script: string) => ({ command: "sh", args: ["-c", script] });

describe("a program", () => {
  it("gives what it writes to standard output", async () => {
    expect(await runProgram(shell("echo figures; echo warnings >&2"))).toBe("figures\n");
  });

  it("that fails shows its command and what it wrote", async () => {
    await expect(runProgram(shell("echo half; echo no memory >&2; exit 3"))).rejects.toMatchObject({
      code: "PROGRAM_FAILED",
      message: expect.stringMatching(/^sh -c .* ended with 3\.\nhalf\nno memory\n/),
    });
  });

  it("that a signal ends says which", async () => {
    await expect(runProgram(shell("kill -9 $$"))).rejects.toThrow(/ended with SIGKILL/);
  });

  it("that isn't there says so", async () => {
    await expect(runProgram({ command: "/nowhere/bench", args: [] })).rejects.toMatchObject({
      code: "PROGRAM_FAILED",
      message: expect.stringContaining("can't be started"),
    });
  });

  it("doesn't start where it was aborted before", async () => {
    await expect(runProgram({ ...shell("sleep 1000"), signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
  });

  it("is ended with all that it started when it is aborted, and when its time is over", async () => {
    const controller = new AbortController();
    const waiting = runProgram({ ...shell("sleep 1000 & wait"), signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    // Output pipes close only when the last process that holds them is gone, so both of these end only if sleep does.
    await expect(runProgram({ ...shell("sleep 1000 & wait"), timeoutMs: 50 })).rejects.toThrow(/did not end within 0.05 s/);
  });
});

it("finds the objects among lines for people", () => {
  expect(jsonLines('# a title\n{"a":1}\n\n{"b":[2]}\n')).toEqual([{ a: 1 }, { b: [2] }]);
});
