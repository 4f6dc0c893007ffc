import { expect, it } from "vitest";
import { RunningCollective } from "../../src/schedule/running-collective.js";
import { infiniband, Links } from "../../src/schedule/topology.js";

const links = () => new Links({ ranksPerIsland: 8, island: { alphaNs: 1000, gigabytesPerSecond: 10 }, network: infiniband });

it("keeps as much for a rank of 100,000 as for one of two", () => {
  const ranks = Array.from({ length: 100_000 }, (_, rank) => rank);
  const collective = new RunningCollective({ bytes: 1e6, ranks, priority: 0 });
  expect(collective.steps).toBe(199_998);
  expect(collective.readyAt(99_999)).toBe(0);
  const { arrivesAt, isComplete } = collective.commit(0, 99_999, links());
  expect(isComplete).toBe(false);
  collective.commit(0, 0, links());
  expect(collective.readyAt(0)).toBe(arrivesAt);
});

it("lets a rank run ahead of its right neighbour by eight steps, and the neighbour find every arrival", () => {
  const collective = new RunningCollective({ bytes: 1000, ranks: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], priority: 0 });
  const own = links();
  const arrivals = Array.from({ length: 10 }, () => [] as number[]);
  // Round and round, each goes as far as it can: all but the first end a round far ahead of the one behind them.
  for (let rank = 9, idle = 0; idle < 10; rank = (rank + 9) % 10) {
    idle += 1;
    for (let at = collective.readyAt(rank); at !== Number.POSITIVE_INFINITY; at = collective.readyAt(rank)) {
      const step = arrivals[rank]?.length ?? 0;
      if (step > 0) expect(at).toBe(arrivals[(rank + 9) % 10]?.[step - 1]);
      const { arrivesAt, isComplete } = collective.commit(at, rank, own);
      arrivals[rank]?.push(arrivesAt);
      idle = 0;
      if (isComplete) break;
    }
    if (arrivals.every((steps) => steps.length === collective.steps)) break;
  }
  expect(arrivals.map((steps) => steps.length)).toEqual(arrivals.map(() => collective.steps));
});
