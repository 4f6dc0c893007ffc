import { expect } from "vitest";
import { explore, type Model } from "./explorer.js";

/** Every interleaving is right, and some of them run to the end; a failure shows the schedule that led there. */
export function expectHolds(model: Model): void {
  const found = explore(model);
  if (!found.ok) throw new Error(`${found.problem}\n  ${found.schedule.join("\n  ")}`);
  expect(found.completeEndings).toBeGreaterThan(0);
}

/** Some interleaving of at least one of the models is wrong, in the way that `problem` says. */
export function expectCaught(models: readonly Model[], problem: RegExp): void {
  const problems = models.map((model) => explore(model)).flatMap((found) => (found.ok ? [] : [found.problem]));
  expect(problems.length, "no schedule showed the fault").toBeGreaterThan(0);
  for (const each of problems) expect(each).toMatch(problem);
}
