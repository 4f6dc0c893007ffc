import { expect, it } from "vitest";
import { refuseExit } from "../../src/programs/refuse-exit.js";

const events = ["exit", "beforeExit"] as const;
const listeners = () => events.map((event) => process.listenerCount(event));

it("guards a file that is loaded beside another, which is done sooner, and leaves none of their listeners", async () => {
  const [exit = 0, beforeExit = 0] = listeners();
  const ends: (() => void)[] = [];
  const load = (name: string) =>
    refuseExit(name, async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
      for (const event of events) process.on(event, () => undefined);
    });
  const [sooner, later] = [load("sooner.mjs"), load("later.mjs")];
  expect(listeners()).toEqual([exit + 2, beforeExit]);
  ends[0]?.();
  await sooner;
  expect(listeners()).toEqual([exit + 1, beforeExit]);
  ends[1]?.();
  await later;
  expect(listeners()).toEqual([exit, beforeExit]);
});
