import { DfcclError } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { chooseBoxing, formatSbp, layout, parseSbp, placement, split } from "../../src/index.js";

const two = placement([0, 1]);

describe("layouts", () => {
  it.each<readonly [string, string, () => unknown]>([
    ["a rank twice", "PLACEMENT", () => placement([0, 0])],
    ["no ranks", "PLACEMENT", () => placement([])],
    ["a negative rank", "PLACEMENT", () => placement([-1])],
    ["a hierarchy of another size", "PLACEMENT", () => placement([0, 1, 2], [2, 2])],
    ["a hierarchy with a 0", "PLACEMENT", () => placement([0], [1, 0])],
    ["an extent of 0", "SHAPE", () => layout([4, 0], parseSbp("B"), two)],
    ["too many signatures", "SIGNATURE", () => layout([4], parseSbp("(B, B)"), two)],
    ["an axis that isn't there", "SIGNATURE", () => layout([4], parseSbp("S1"), two)],
    ["a negative axis", "INVALID_ARGUMENT", () => split(-1)],
    ["an unknown signature", "INVALID_ARGUMENT", () => parseSbp("(B, X)")],
    ["boxing to another shape", "SHAPE", () => chooseBoxing(layout([4], parseSbp("B"), two), layout([5], parseSbp("B"), two))],
  ])("refuse %s with a remedy", (_what, code, act) => {
    let error: unknown;
    try {
      act();
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(DfcclError);
    expect(error).toMatchObject({ code, remedy: expect.stringMatching(/^[A-Z].*\.$/) });
  });

  it("print what they read", () => {
    for (const text of ["S0", "B", "P", "(S1, B)", "(P, S0, S12)"]) expect(formatSbp(parseSbp(text))).toBe(text);
  });
});
