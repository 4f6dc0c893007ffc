import { expect, it } from "vitest";
import { describeCycle, nameCycle } from "../../src/disorder/deadlock-text.js";

const names = ["conv1", "fc"];

it("names the tensors and begins where something executes", () => {
  const cycle = nameCycle(
    [
      { rank: 1, id: 0, run: 0, state: "queued" },
      { rank: 1, id: 1, run: 0, state: "executing" },
      { rank: 0, id: 1, run: 0, state: "not submitted" },
      { rank: 0, id: 0, run: 0, state: "executing" },
    ],
    names,
  );
  expect(cycle.map(({ tensor }) => tensor)).toEqual(["conv1", "fc", "fc", "conv1"]);
  expect(describeCycle(cycle)).toEqual([
    "rank 1 executes fc, and waits for rank 0,",
    "where it comes after a synchronization that waits for conv1;",
    "rank 0 executes conv1, and waits for rank 1,",
    "where it is queued behind fc;",
  ]);
});

it("shows the number of a collective that has no name", () => {
  expect(nameCycle([{ rank: 0, id: 9, run: 0, state: "executing" }], names)[0]?.tensor).toBe("collective 9");
});
