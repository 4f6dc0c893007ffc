import { expect, it } from "vitest";
import { chooseBoxing, describeBoxing, layout, parseSbp, placement } from "../../src/index.js";

const grid = placement([0, 1, 2, 3], [2, 2]);

it("prints a boxing step by step", () => {
  const text = (from: string, to: string): string[] =>
    describeBoxing(chooseBoxing(layout([8, 4], parseSbp(from), grid), layout([8, 4], parseSbp(to), grid))).split("\n");
  expect(text("(S0, P)", "(S0, P)")).toEqual(["[8, 4] (S0, P) on ranks 0, 1, 2, 3 → (S0, P) on ranks 0, 1, 2, 3", "  identity"]);
  expect(text("(P, S1)", "(B, B)").slice(1)).toEqual([
    "  all-reduce of 2 in 2 groups          → (B, S1)  256 bytes",
    "  all-gather of 2 in 2 groups, unpack  → (B, B)   256 bytes",
    "  together 512 bytes",
  ]);
  expect(text("(B, B)", "(S0, S1)").slice(1)).toEqual(["  local copies  → (S0, S1)  nothing moved"]);
});

it("prints copies between placements", () => {
  const boxing = chooseBoxing(layout([5], parseSbp("P"), placement([0, 1])), layout([5], parseSbp("S0"), placement([2, 3])));
  expect(describeBoxing(boxing).split("\n")[1]).toBe("  4 slice copies between ranks, added  → S0  40 bytes");
});
