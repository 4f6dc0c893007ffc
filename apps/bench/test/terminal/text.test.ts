import { describe, expect, it } from "vitest";
import { wantsColors } from "../../src/terminal/colors.js";
import { formatBytes, formatSeconds, formatTable } from "../../src/terminal/table.js";
import { textWidth, wrap, wrapOnTerminal } from "../../src/terminal/wrap.js";

describe("wrap", () => {
  it("breaks at spaces, within the width", () => {
    expect(wrap("one two three four", 9)).toBe("one two\nthree\nfour");
  });

  it("indents, and the lines that follow a little more", () => {
    expect(wrap("one two three", 9, 2)).toBe("  one two\n    three");
  });

  it("keeps the lines that are there", () => {
    expect(wrap("one two\n\n  - three", 80)).toBe("one two\n\n  - three");
  });

  it("leaves a long word whole", () => {
    expect(wrap("a layer1.0.downsample.bn.weight b", 10)).toBe("a\nlayer1.0.downsample.bn.weight\nb");
  });

  it("takes a terminal's width within reason", () => {
    expect([textWidth({ columns: 80 }), textWidth({ columns: 400 }), textWidth({ columns: 5 }), textWidth({})]).toEqual([80, 100, 40, 100]);
  });

  it("leaves what goes into a pipe on its line, where grep finds it", () => {
    const text = `${"word ".repeat(40)}end`;
    expect(wrapOnTerminal(text, {})).toBe(text);
    expect(wrapOnTerminal(text, { isTTY: true, columns: 50 }).split("\n")).toHaveLength(5);
  });

  it("takes a terminal that says 0, as mpirun's do, for one of unknown width", () => {
    expect(textWidth({ columns: 0 })).toBe(100);
  });
});

describe("tables", () => {
  it("line up names to the left and numbers to the right", () => {
    const rows = [
      ["a", "1,000"],
      ["long name", "7"],
    ];
    expect(formatTable(rows)).toBe("  a          1,000\n  long name      7");
    expect(formatTable(rows, ["what", "n"])).toBe("  what           n\n  ---------  -----\n  a          1,000\n  long name      7");
  });

  it("show times and sizes with three digits and a unit", () => {
    expect([0.0000015, 0.0123, 12.34, Number.NaN].map(formatSeconds)).toEqual(["1.50 µs", "12.3 ms", "12.3 s", "–"]);
    expect([7, 1023, 1024, 102_228_128].map(formatBytes)).toEqual(["7 B", "1023 B", "1 KiB", "97.5 MiB"]);
  });
});

describe("colours", () => {
  it.each([
    ["on a terminal", { isTTY: true }, {}, true],
    ["not in a pipe", {}, {}, false],
    ["not in a pipe of a CI system", {}, { CI: "true" }, false],
    ["not with NO_COLOR", { isTTY: true }, { NO_COLOR: "1" }, false],
    ["with an empty NO_COLOR, as its definition says", { isTTY: true }, { NO_COLOR: "" }, true],
    ["not on a dumb terminal", { isTTY: true }, { TERM: "dumb" }, false],
    ["in a pipe where FORCE_COLOR asks for them", {}, { FORCE_COLOR: "1" }, true],
    ["not where both ask", {}, { FORCE_COLOR: "1", NO_COLOR: "1" }, false],
  ])("%s", (_, stream, environment, expected) => {
    expect(wantsColors(stream, environment)).toBe(expected);
  });
});
