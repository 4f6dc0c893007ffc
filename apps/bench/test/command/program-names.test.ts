import { expect, it } from "vitest";
import { runCommand } from "./run-command.js";

it.each([
  ["doctor", ""],
  ["doctor", "--json", "", "--help"],
  ["launch", "", "folder"],
  ["launch", "-n", "2", ""],
  ["run", "-n", "2", ""],
  ["run-nccl", ""],
])("%s refuses a program that has no name: %j", async (...args) => {
  const { code, stdout, stderr } = await runCommand(args);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("Begin with the name of a program.");
});

it("an argument of the program may be empty", async () => {
  expect(await runCommand(["launch", "-n", "2", "test", "-z", ""])).toMatchObject({ code: 0 });
});
