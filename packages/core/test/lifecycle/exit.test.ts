import { describe, expect, it } from "vitest";
import { runChild } from "../support/child.js";

describe("a program with work in flight", () => {
  it("ends with the code that it gives to process.exit", async () => {
    expect(await runChild(new URL("./fixtures/exit-in-flight.ts", import.meta.url))).toMatchObject({
      code: 3,
      signal: null,
      stdout: "in flight\n",
      stderr: "",
    });
  });

  it("ends from within a callback too", async () => {
    expect(await runChild(new URL("./fixtures/exit-in-callback.ts", import.meta.url))).toMatchObject({ code: 4, signal: null, stderr: "" });
  });

  it("ends with an exception that nobody catches", async () => {
    const { code, signal, stderr } = await runChild(new URL("./fixtures/throw-elsewhere.ts", import.meta.url));
    expect([code, signal]).toEqual([1, null]);
    expect(stderr).toContain("Error: elsewhere");
  });

  it("ends by SIGTERM while it is parked", async () => {
    const end = await runChild(new URL("./fixtures/sigterm.ts", import.meta.url), { onLine: (_, child) => child.kill("SIGTERM") });
    expect(end).toMatchObject({ code: null, signal: "SIGTERM", stdout: "ready\n", stderr: "" });
  });

  it("may close its world at SIGTERM, which fails what was in flight, and ends in peace", async () => {
    const end = await runChild(new URL("./fixtures/sigterm.ts", import.meta.url), {
      args: ["--handled"],
      onLine: (line, child) => line === "ready" && child.kill("SIGTERM"),
    });
    expect(end).toMatchObject({ code: 0, signal: null, stdout: "ready\nfailed CLOSED\n", stderr: "" });
  });
});

describe("an exception in a callback", () => {
  it("ends the program as one in a timer does", async () => {
    const { code, stdout, stderr } = await runChild(new URL("./fixtures/throw-in-callback.ts", import.meta.url));
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("Error: boom");
  });

  it("keeps no other completion from being delivered, if the program handles it", async () => {
    const end = await runChild(new URL("./fixtures/throw-in-callback.ts", import.meta.url), { args: ["--handled"] });
    expect(end).toMatchObject({ code: 0, stdout: "caught boom\ndelivered 10\n", stderr: "" });
  });
});
