import { expect, it } from "vitest";
import { verdict } from "../../src/disorder/report.js";

type Result = Parameters<typeof verdict>[0];
const interrupted = (completed: number): string =>
  verdict({ completed, expected: 100, wrong: 0, partial: true, iterationsDone: 0 } as Partial<Result> as Result, undefined);

it("an interrupted run without results has none that are right", () => {
  expect(interrupted(0)).toBe("Interrupted before any collective completed: there are no results to judge.");
  expect(interrupted(7)).toContain("7 of 100 collectives completed so far, and every result is right to the bit.");
});
