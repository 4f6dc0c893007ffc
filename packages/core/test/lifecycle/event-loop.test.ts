import { describe, expect, it } from "vitest";
import { runChild } from "../support/child.js";

describe("the event loop", () => {
  it("ends by itself with an open world that has nothing in flight", async () => {
    expect(await runChild(new URL("./fixtures/idle.ts", import.meta.url))).toMatchObject({
      code: 0,
      signal: null,
      stdout: "done\n",
      stderr: "",
    });
  });

  it("stays alive for runs in flight, parked or not, and ends after the last", async () => {
    expect(await runChild(new URL("./fixtures/in-flight-alone.ts", import.meta.url))).toMatchObject({
      code: 0,
      signal: null,
      stdout: "completed\n",
      stderr: "",
    });
  });

  it("ends in a deadlocked world once every run has been told", async () => {
    const end = await runChild(new URL("./fixtures/deadlocked.ts", import.meta.url));
    expect(end).toMatchObject({ code: 0, signal: null, stdout: "DEADLOCK\n".repeat(4), stderr: "" });
  });

  it("sleeps while it waits for a rank that doesn't come, with all of the engine's threads", async () => {
    const { code, stdout } = await runChild(new URL("./fixtures/parked-cpu.ts", import.meta.url));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^cpu \d+\ncompleted\n$/);
    // Of a second. One spinning thread would use all of it.
    expect(Number(/cpu (\d+)/.exec(stdout)?.[1])).toBeLessThan(300);
  });
});
