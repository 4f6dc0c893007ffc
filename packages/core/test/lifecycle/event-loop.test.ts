import { describe, expect, it } from "vitest";
import { runChild } from "../support/child.js";

const fixture = (name: string): URL => new URL(`./fixtures/${name}.ts`, import.meta.url);

describe("the event loop", () => {
  it("ends by itself with an open world that has nothing in flight", async () => {
    expect(await runChild(fixture("idle"))).toMatchObject({ code: 0, signal: null, stdout: "done\n", stderr: "" });
  });

  it("stays alive for runs in flight, parked or not, and ends after the last", async () => {
    expect(await runChild(fixture("in-flight-alone"))).toMatchObject({ code: 0, signal: null, stdout: "completed\n", stderr: "" });
  });

  it("ends in a deadlocked world once every run has been told", async () => {
    const end = await runChild(fixture("deadlocked"));
    expect(end).toMatchObject({ code: 0, signal: null, stdout: "DEADLOCK\n".repeat(4), stderr: "" });
  });

  it("sleeps while it waits for a rank that doesn't come, with all of the engine's threads", async () => {
    const { code, stdout } = await runChild(fixture("parked-cpu"));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^cpu \d+\ncompleted\n$/);
    // Of a second. One spinning thread would use all of it.
    expect(Number(/cpu (\d+)/.exec(stdout)?.[1])).toBeLessThan(300);
  });
});
