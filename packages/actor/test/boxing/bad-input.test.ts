import { DfcclError, InvalidArgumentError } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { type Boxing, chooseBoxing, formatSbp, interpretBoxing, layout, parseSbp, placement, split } from "../../src/index.js";

const two = placement([0, 1]);
const gathered = (shape: readonly number[]): Boxing => chooseBoxing(layout(shape, parseSbp("S0"), two), layout(shape, parseSbp("B"), two));
const parts = new Map([0, 1].map((rank) => [rank, new Float32Array(2)]));

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

  it.each<readonly [string, (boxing: Boxing) => unknown]>([
    ["parts of another length", (boxing) => interpretBoxing(boxing, new Map([[0, new Float32Array(5)]]))],
    ["no part for a rank", (boxing) => interpretBoxing(boxing, new Map())],
    ["no steps although something changes", (boxing) => interpretBoxing({ ...boxing, steps: [] }, parts)],
    ["steps of another tensor", (boxing) => interpretBoxing({ ...boxing, steps: gathered([6]).steps }, parts)],
    [
      "a collective that doesn't lead there",
      (boxing) =>
        interpretBoxing({ ...boxing, steps: boxing.steps.map((step) => ({ ...step, collective: "all-reduce" }) as never) }, parts),
    ],
    [
      "a copy of what a rank hasn't got",
      (boxing) => {
        const [from, to] = [boxing.from, boxing.to];
        const copies = [{ fromRank: 0, toRank: 1, box: [{ from: 0, to: 4 }] }];
        return interpretBoxing({ ...boxing, steps: [{ kind: "copies", from, to, copies, cost: 0 }] }, parts);
      },
    ],
  ])("of a boxing are refused: %s", (_what, act) => {
    expect(() => act(gathered([4]))).toThrow(InvalidArgumentError);
  });

  it("print what they read", () => {
    for (const text of ["S0", "B", "P", "(S1, B)", "(P, S0, S12)"]) expect(formatSbp(parseSbp(text))).toBe(text);
  });
});
