import { expect, it } from "vitest";
import { chooseBoxing, describeBoxing, interpretBoxing, type Layout, layout, parseSbp, placement } from "../../src/index.js";

const most = 65_536;
const half = most / 2;
const from = (first: number): number[] => Array.from({ length: half }, (_, i) => first + i);
const on = (sbp: string, shape: readonly number[], first: number): Layout => layout(shape, parseSbp(sbp), placement(from(first)));
const zeros = (elementsOf: (member: number) => number): ReadonlyMap<number, Float32Array> =>
  new Map(from(0).map((rank, member) => [rank, new Float32Array(elementsOf(member))]));

// Half of the most ranks that there may be on each side. A look at every pair of them takes minutes, which a test doesn't have.
it.each([
  ["S0", "S0", 2 * most, () => 4, half],
  ["B", "B", 4, () => 4, half],
  ["S0", "B", 4, (member: number) => (member < 4 ? 1 : 0), 4 * half],
  ["P", "S0", 4, () => 4, 4 * half],
] as const)("%s to %s between placements of 32,768 ranks is found, told and carried out", (source, target, extent, elementsOf, copies) => {
  const boxing = chooseBoxing(on(source, [extent], 0), on(target, [extent], half));
  expect(boxing.steps).toMatchObject([{ kind: "copies" }]);
  const [step] = boxing.steps;
  expect(step?.kind === "copies" && step.copies.length).toBe(copies);
  expect(describeBoxing(boxing)).toContain("slice copies between ranks");
  expect(interpretBoxing(boxing, zeros(elementsOf)).parts.size).toBe(half);
});

it("a sum goes over a split, and a broadcast of much is refused before memory is taken", () => {
  const boxing = chooseBoxing(on("P", [4], 0), on("B", [4], half));
  expect(boxing.steps.map(({ kind }) => kind)).toEqual(["copies", "copies"]);
  const first = layout([most], parseSbp("B"), placement([0]));
  const everywhere = chooseBoxing(first, on("B", [most], 0));
  const refused = expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.stringContaining("to 268435456") });
  expect(() => interpretBoxing(everywhere, new Map([[0, new Float32Array(most)]]))).toThrow(refused);
});

it("splits that cross between placements are refused with what to do", () => {
  const call = (): unknown => chooseBoxing(on("S0", [half, half], 0), on("S1", [half, half], half));
  expect(call).toThrow(/from S0 on 32768 ranks to S1 on 32768 takes more than 2097152 copies\. Add summands up, or gather splits/i);
});
