import { describe, expect, it } from "vitest";
import { drawCurve, fitCurve } from "../../src/tuner/index.js";

const points = [1, 4, 16, 64, 256, 1024].map((value) => ({ value, ns: 1000 * (value / 32 + 32 / value) }));

const escapes = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, "g");

/** Column and row of every mark, from the plot's left border and top. */
function marksOf(text: string, mark: string): [x: number, y: number][] {
  return text
    .split("\n")
    .flatMap((line, y) =>
      [...line.slice(line.indexOf("|") + 1)].flatMap((cell, x): [number, number][] =>
        line.includes("|") && cell === mark ? [[x, y]] : [],
      ),
    );
}

describe("a curve as text", () => {
  it("looks like this", () => {
    const text = drawCurve(points, { fit: fitCurve(points), best: 16, width: 40, height: 9 });
    expect(`\n${text}\n`).toMatchInlineSnapshot(`
      "
      32.03 us |o                                      o
               | .                                    .
               |
               |  .                                  .
      17.27 us |   ..                              ..
               |     .                            .
               |      ..o                      o..
               |        ....                ....
      2.500 us |            ....X      o....
               +----------------------------------------
                1                   32              1024
                initial spin threshold (visits)
      "
    `);
  });

  it("lines up: one border, points from left to right, the same height for the same time", () => {
    const text = drawCurve(points, { width: 50, height: 14 });
    const bordered = text.split("\n").slice(0, 14);
    expect(new Set(bordered.map((line) => line.indexOf("|"))).size).toBe(1);
    const measured = marksOf(text, "o").sort(([a], [b]) => a - b);
    expect(measured.map(([x]) => x)).toEqual([0, 10, 20, 29, 39, 49]);
    const heights = measured.map(([, y]) => y);
    expect(heights[0]).toBe(heights[5]); // 1 and 1024 lie as far from 32 as each other
    expect(heights[2]).toBe(heights[3]);
    expect(Math.max(...heights)).toBe(13);
    expect(Math.min(...heights)).toBe(0);
  });

  it("has no escape codes unless colours are asked for, and says the same with them", () => {
    const options = { fit: fitCurve(points), best: 16 };
    const plain = drawCurve(points, options);
    const colored = drawCurve(points, { ...options, colors: true });
    expect(plain).not.toContain("\u001b");
    expect(colored).toContain("\u001b[");
    expect(colored.replaceAll(escapes, "")).toBe(plain);
  });

  it("draws a single point, and equal times", () => {
    expect(marksOf(drawCurve([{ value: 8, ns: 5 }]), "o")).toHaveLength(1);
    expect(
      marksOf(
        drawCurve([
          { value: 1, ns: 5 },
          { value: 9, ns: 5 },
        ]),
        "o",
      ).map(([x]) => x),
    ).toEqual([0, 59]);
  });

  it("chooses the unit of time", () => {
    const label = (ns: number) =>
      drawCurve([{ value: 1, ns }])
        .split("\n")
        .find((line) => !line.startsWith(" "));
    expect([5, 5e3, 5e6, 5e9].map(label)).toEqual([
      expect.stringContaining("5.00 ns"),
      expect.stringContaining("5.000 us"),
      expect.stringContaining("5.000 ms"),
      expect.stringContaining("5.000 s"),
    ]);
  });
});
