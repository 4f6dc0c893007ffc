// Random programs of groups and calls, the same on every rank, carried out in an order that each rank draws by itself.
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Group, openWorld, type Rank } from "../../src/index.js";
import { type BegunStep, beginStep, type Step, stepKinds } from "../support/group-steps.js";

const indices = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const shuffled = <T>(list: readonly T[], seed: number): T[] =>
  fc.sample(fc.shuffledSubarray([...list], { minLength: list.length }), { seed, numRuns: 1 })[0] ?? [];

const sample = fc.record({
  size: fc.constantFrom(1, 3, 4),
  isNarrow: fc.boolean(),
  groups: fc.array(fc.record({ seed: fc.integer(), members: fc.integer({ min: 1, max: 4 }) }), { minLength: 1, maxLength: 4 }),
  colours: fc.array(fc.nat(1), { minLength: 4, maxLength: 4 }),
  steps: fc.array(
    fc.record({ kind: fc.constantFrom(...stepKinds), group: fc.nat(9), count: fc.nat(30), root: fc.nat(3), peer: fc.nat(3) }),
    { minLength: 1, maxLength: 40 },
  ),
  seed: fc.integer(),
});
type Program = typeof sample extends fc.Arbitrary<infer T> ? T : never;

/** Those that this rank is in; undefined: not in this one. */
async function makeGroups(rank: Rank, { size, groups, colours, seed }: Program): Promise<(Group | undefined)[]> {
  const made: (Group | undefined)[] = [];
  for (const g of shuffled(indices(groups.length), seed + rank.number)) {
    const { seed: order = 0, members = 1 } = groups[g] ?? {};
    const ranks = shuffled(indices(size), order).slice(0, members);
    made[g] = ranks.includes(rank.number) ? rank.group(ranks, { name: g }) : undefined;
  }
  const all = rank.group();
  const colour = colours[rank.number] ?? 0;
  const part = await all.split(colour, -rank.number);
  return [...made, all, ...(colour === 0 ? [part, undefined] : [undefined, part])];
}

/** Members that each group has, by which root and peer are chosen alike on all ranks. */
function sizesOf({ size, groups, colours }: Program): number[] {
  const ofColour = (colour: number): number => indices(size).filter((rank) => colours[rank] === colour).length;
  return [...groups.map(({ members }) => Math.min(members, size)), size, ofColour(0), ofColour(1)];
}

/** @returns what went wrong. */
async function carryOut(rank: Rank, program: Program): Promise<string[]> {
  const [groups, sizes] = [await makeGroups(rank, program), sizesOf(program)];
  const begun: BegunStep[] = [];
  const steps = program.steps.flatMap(({ group: drawn, root, peer, ...rest }, number) => {
    const at = drawn % sizes.length;
    const [group, members] = [groups[at], sizes[at] ?? 0];
    const step: Step = { ...rest, number, root: root % Math.max(1, members), peer: peer % Math.max(1, members) };
    return group === undefined ? [] : [{ step, group }];
  });
  const order = shuffled(steps, program.seed + 100 * rank.number);
  const over: unknown[] = [];
  // Some of them one by one, others in batches.
  for (let at = 0; at < order.length; ) {
    const length = 1 + ((program.seed + at + rank.number) & 7);
    const some = order.slice(at, at + length);
    at += length;
    if (length % 2 === 0) begun.push(...some.map(({ step, group }) => beginStep(step, rank, group, rank)));
    else {
      const batch = rank.batch((calls) => {
        begun.push(...some.map(({ step, group }) => beginStep(step, rank, group, calls)));
      });
      over.push(batch);
    }
  }
  await Promise.all([...over, ...begun.flatMap((step) => step.over)]);
  const wrong = await Promise.all(begun.map(({ check }) => check()));
  for (const group of shuffled(groups, program.seed - rank.number)) group?.drop();
  return wrong.filter((text) => text !== undefined);
}

it("random programs complete, whatever order each rank draws, and every result is right", async () => {
  await fc.assert(
    fc.asyncProperty(sample, async (program) => {
      using world = openWorld({ ranks: program.size, ...(program.isNarrow ? { submissionSlots: 16, completionSlots: 16 } : {}) });
      const wrong = await Promise.all(world.ranks.map((rank) => carryOut(rank, program)));
      expect(wrong.flat()).toEqual([]);
    }),
    { numRuns: 80 },
  );
});
