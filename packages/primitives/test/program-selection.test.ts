import { describe, expect, it } from "vitest";
import { buildProgram, type ProgramRequest, type ProgramRule, selectAmongPrograms } from "../src/index.js";

const ring = buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: 4, inPlace: "either" });
const tree = buildProgram({ collective: "all-reduce", algorithm: "binomial-tree", ranks: 4, inPlace: "either" });
const rules: readonly ProgramRule[] = [
  { name: "tree", program: tree, maxBytes: 4096 },
  { name: "ring", program: ring, minBytes: 4096, maxBytes: 1 << 20, wholeChunksOnly: true },
];
const request: ProgramRequest = {
  collective: "all-reduce",
  ranks: 4,
  inPlace: "either",
  bytes: 1024,
  count: 256,
  platform: { sharedMemory: false },
};

const nameOf = (changes: Partial<ProgramRequest>, among = rules): string => {
  const chosen = selectAmongPrograms({ ...request, ...changes }, among);
  return chosen.kind === "program" ? chosen.rule.name : `built-in ${chosen.choice.algorithm}`;
};

describe("among programs of one's own", () => {
  it("the first that fits is taken: from minBytes to below maxBytes", () => {
    expect([0, 4095, 4096, (1 << 20) - 4].map((bytes) => nameOf({ bytes, count: 1024 }))).toEqual(["tree", "tree", "ring", "ring"]);
  });

  it("and else a built-in one, with the reason against each", () => {
    const chosen = selectAmongPrograms({ ...request, bytes: 1 << 20 }, rules);
    expect(chosen).toMatchObject({
      kind: "built-in",
      choice: { algorithm: "double-binary-tree" },
      passedOver: [
        { name: "tree", why: "it is for less than 4096 bytes" },
        { name: "ring", why: "it is for less than 1048576 bytes" },
      ],
    });
  });

  it("one that wants whole chunks isn't taken for a count that has none", () => {
    expect(nameOf({ bytes: 8192, count: 2048 })).toBe("ring");
    expect(nameOf({ bytes: 8192, count: 2047 })).toMatch("built-in");
  });

  it.each<[string, Partial<ProgramRequest>, string]>([
    ["another collective", { collective: "all-gather" }, "its collective is all-reduce"],
    ["other ranks", { ranks: 5 }, "it is for 4 ranks"],
  ])("none is taken for %s", (_, changes, why) => {
    expect(selectAmongPrograms({ ...request, ...changes }, rules).passedOver).toContainEqual({ name: "tree", why });
  });

  it("placement, root and shared memory count", () => {
    const inPlaceOnly = [{ name: "p", program: { ...ring, outOfPlace: false } }];
    expect([true, false, "either" as const].map((inPlace) => nameOf({ inPlace }, inPlaceOnly))).toEqual([
      "p",
      "built-in recursive-doubling",
      "built-in recursive-doubling",
    ]);
    expect(nameOf({ inPlace: true }, [{ name: "p", program: { ...ring, inPlace: false } }])).toMatch("built-in");
    const direct = [
      { name: "d", program: buildProgram({ collective: "all-reduce", algorithm: "direct-two-shot", ranks: 4, inPlace: "either" }) },
    ];
    expect([true, false].map((sharedMemory) => nameOf({ platform: { sharedMemory } }, direct))).toEqual([
      "d",
      "built-in recursive-doubling",
    ]);
    const broadcast = [
      { name: "b", program: buildProgram({ collective: "broadcast", algorithm: "ring", ranks: 4, root: 1, inPlace: "either" }) },
    ];
    expect([1, 2].map((root) => nameOf({ collective: "broadcast", root }, broadcast))).toEqual(["b", "built-in binomial-tree"]);
  });
});
