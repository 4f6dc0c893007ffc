import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { findCommand, repositoryRoot } from "../../src/peers/native-programs.js";

it("finds the clone that it lies in", () => {
  expect(new URL(`file://${repositoryRoot()}/apps/bench/test/peers/native-programs.test.ts`).href).toBe(import.meta.url);
});

it("says what to do outside of a clone", () => {
  expect(() => repositoryRoot(tmpdir())).toThrow(/not part of the published package. Clone the repository/);
});

it("looks a command up on the PATH", () => {
  expect(findCommand("sh", { PATH: "/nowhere:/bin" })).toBe("/bin/sh");
  expect(findCommand("sh", { PATH: "/nowhere" })).toBeUndefined();
  expect(findCommand("sh", {})).toBeUndefined();
});
