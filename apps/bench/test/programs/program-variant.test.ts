import { describe, expect, it } from "vitest";
import { contendersOf } from "../../src/programs/contenders.js";
import { loadProgram } from "../../src/programs/load-program.js";
import { parseVariant } from "../../src/programs/program-variant.js";

describe("a variant behind a program's name", () => {
  it.each([
    ["ring-all-reduce", { path: "ring-all-reduce", label: "" }],
    ["ring-all-reduce:c4:x8", { path: "ring-all-reduce", label: "x8", channels: 4, instances: 8 }],
    ["a:b/two-shot.ts:direct:ll128", { path: "a:b/two-shot.ts", label: "direct, ll128", direct: true, protocol: "ll128" }],
    ["ring-all-reduce:fast:ll", { path: "ring-all-reduce:fast", label: "ll", protocol: "ll" }],
  ])("of %s is read", (text, variant) => {
    expect(parseVariant(text)).toEqual(variant);
  });

  it.each(["ring-all-reduce:ll:ll128", "ring-all-reduce:x2:x4", "ring-all-reduce:c2:ll:c4"])("of %s contradicts itself", (text) => {
    expect(() => parseVariant(text)).toThrow(/Give one of :/);
  });

  it.each([
    ["ring-all-reduce:fast", /:fast is no variant/],
    [`${import.meta.dirname}/program-variant.test.ts:fast:ll`, /:fast is no variant/],
    ["all-pairs-all-gather:c4", /says itself over which channels/],
    ["no-such-algorithm:ll", /no algorithm of that name/],
    ["ring-all-reduce:x0", /instances is 0/],
  ])("of %s is refused", async (text, why) => {
    await expect(loadProgram(text)).rejects.toThrow(why);
  });
});

it("two contenders never have one name", async () => {
  const [ring, faster] = [await loadProgram("ring-all-reduce"), await loadProgram("ring-all-reduce:x2")];
  expect(contendersOf([ring, faster, ring, ring]).map(({ name }) => name)).toEqual([
    "all-reduce ring",
    "all-reduce ring (x2)",
    "all-reduce ring (2)",
    "all-reduce ring (3)",
  ]);
});
