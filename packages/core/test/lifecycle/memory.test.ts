import { describe, expect, it } from "vitest";
import { runChild } from "../support/child.js";

const nodeOptions = ["--expose-gc"];

describe("memory", () => {
  it("of a world that nobody holds is collected and its threads end, but not while a run is in flight", async () => {
    const { code, stdout, stderr } = await runChild(new URL("./fixtures/collected-world.ts", import.meta.url), { nodeOptions });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n")).toEqual(["threads: 20 more or fewer collected early: true, then 0 more", "completed 1", "then 0 more", ""]);
  });

  it("of buffers that the program drops stays until their run is over, and no longer", async () => {
    const end = await runChild(new URL("./fixtures/dropped-buffers.ts", import.meta.url), { nodeOptions });
    expect(end).toMatchObject({
      code: 0,
      stdout: "in flight: control recv, control send\nsum 6 6\ncompleted: control recv, control send, recv, send\n",
      stderr: "",
    });
  });

  it("of buffers of many signatures is let go, all of it with the world", async () => {
    expect(await runChild(new URL("./fixtures/remembered-buffers.ts", import.meta.url), { nodeOptions })).toMatchObject({
      code: 0,
      stdout: "few are held: true\nclosed, none: true\nworld 2\n",
      stderr: "",
    });
  });

  it("of a world that isn't closed takes its flight recorder along; one listener stays, so that the signal ends nothing", async () => {
    expect(await runChild(new URL("./fixtures/collected-recorders.ts", import.meta.url), { nodeOptions })).toMatchObject({
      code: 0,
      stdout: "recorders: 3, then 1, then 0\nlisteners: 1\nafter the signal\n",
      stderr: "",
    });
  });

  it("of a buffer in flight can't be transferred away", async () => {
    const end = await runChild(new URL("./fixtures/transferred-buffer.ts", import.meta.url), { nodeOptions });
    expect(end).toMatchObject({ code: 0, stdout: "still attached: true\nsums 3 3\n", stderr: "" });
  });

  it("of buffers in flight may be freed once their world is closed", async () => {
    expect(await runChild(new URL("./fixtures/closed-in-flight.ts", import.meta.url), { nodeOptions })).toMatchObject({
      code: 0,
      stdout: "closed\n",
      stderr: "",
    });
  });

  it("of a world of many ranks is what they use, and not what their limits allow", async () => {
    const { code, stdout, stderr } = await runChild(new URL("./fixtures/many-ranks.ts", import.meta.url), { nodeOptions });
    expect([code, stderr]).toEqual([0, ""]);
    // It was 494 MB with all tables touched, and 191 MB with those touched that calloc() clears.
    expect(Number(stdout)).toBeGreaterThan(0);
    expect(Number(stdout)).toBeLessThan(150);
  });
});
