import { describe, expect, it } from "vitest";
import { buildProgram, collectiveShape, formatValue, InvalidArgumentError, opShapeOf, protocolFactsOf, takesRoot } from "../src/index.js";

describe("a value in a message", () => {
  it.each<readonly [unknown, string]>([
    ["ring", '"ring"'],
    ["4", 'the string "4"'],
    [4n, "the bigint 4n"],
    [4, "4"],
    [Symbol("ranks"), "Symbol(ranks)"],
    [() => 4, "a function"],
    [async () => 4, "an async function"],
    [null, "null"],
    [{ ranks: 4 }, "an object"],
    [[0, "1", [2, [3]]], '[0, the string "1", [2, a list]]'],
    [Array.from({ length: 20 }, () => 0), `[${"0, ".repeat(16)}… 4 more]`],
    ["x".repeat(300), `"${"x".repeat(200)}…"`],
  ])("of %o", (value, text) => {
    expect(formatValue(value)).toBe(text);
  });

  it("tells a number from what only looks like one", () => {
    const build = (ranks: unknown) => () => buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: ranks as number });
    expect(build("4")).toThrow('ranks is the string "4". Give a whole number from 1 to 4096.');
    expect(build(2n)).toThrow("ranks is the bigint 2n. Give a whole number from 1 to 4096.");
  });
});

// Every object knows these names, and a table is one.
it.each(["__proto__", "constructor", "toString"])("%s names nothing", (name) => {
  for (const find of [collectiveShape, takesRoot, opShapeOf, protocolFactsOf]) {
    expect(() => find(name as never)).toThrow(InvalidArgumentError);
  }
});
