import { describe, expect, it } from "vitest";
import { runChild } from "../support/child.js";

describe("worker threads", () => {
  it("may end in any way with work in flight, without harm to the process", async () => {
    const { code, signal, stdout } = await runChild(new URL("./fixtures/worker-ends.ts", import.meta.url));
    expect([code, signal]).toEqual([0, null]);
    expect(stdout.trim().split("\n")).toEqual([
      "terminate: ended",
      "process.exit: ended",
      "throw: worker threw",
      "throw: ended",
      "terminate while blocked: ended",
      "close: ended",
      "main: 2",
    ]);
  });

  it("have worlds of their own, several at once", async () => {
    expect(await runChild(new URL("./fixtures/several-workers.ts", import.meta.url))).toMatchObject({
      code: 0,
      signal: null,
      stdout: "codes 0 0 0 0\n",
      stderr: "",
    });
  });
});
