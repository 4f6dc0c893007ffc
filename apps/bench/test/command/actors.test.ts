import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { XMLParser } from "fast-xml-parser";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "./run-command.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-actors-"));
afterAll(() => rmSync(folder, { recursive: true }));
const inDocs = (picture: string): string => readFileSync(new URL(`../../../../docs/images/${picture}.svg`, import.meta.url), "utf8");

/** Runs a command that draws. @returns what it printed and drew. */
async function drawn(...args: readonly string[]): Promise<{ stdout: string; svg: string }> {
  const file = join(folder, "drawing.svg");
  const { code, stdout, stderr } = await runCommand([...args, "-o", file]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return { stdout, svg: readFileSync(file, "utf8") };
}

describe("dfccl boxing", () => {
  it("prints and draws what docs/actors.md shows", async () => {
    const { stdout, svg } = await drawn("boxing", "(P, S0)", "(B, B)", "--hierarchy", "2x2");
    expect(readFileSync(new URL("../../../../docs/actors.md", import.meta.url), "utf8")).toContain(stdout);
    expect(svg).toBe(inDocs("boxing"));
  });

  it("draws a part for each rank and a line for each pair that exchanges something", async () => {
    const { svg } = await drawn("boxing", "P", "S0", "--shape", "5x3", "--ranks", "0,1", "--to-ranks", "2,3,4");
    const { g } = new XMLParser({ ignoreAttributes: false }).parse(svg).svg;
    // Outline, part and hatching on two ranks; outline and part on three.
    expect(g.rect).toHaveLength(2 * 3 + 3 * 2);
    expect(g.path).toHaveLength(2 * 3);
  });

  it.each([
    [["S2", "B"], "splits an axis"],
    [["X", "B"], "signatures such as"],
    [["(B, B)", "B"], "has 2 dimensions"],
    [["P", "B", "--ranks", "0,0"], "each once"],
    [["P", "B", "--hierarchy", "3x2"], "doesn't hold 4 ranks"],
  ])("refuses %j and says why", async (args, why) => {
    const { code, stderr } = await runCommand(["boxing", ...args]);
    expect(code).toBe(2);
    expect(stderr.replaceAll(/\s+/g, " ")).toContain(why);
  });
});

describe("dfccl pipeline", () => {
  it("prints and draws what docs/actors.md shows", async () => {
    const { stdout, svg } = await drawn("pipeline");
    expect(stdout).toContain("stage 1  F1 F2 F3 B1 F4 B2");
    const shown = readFileSync(new URL("../../../../docs/actors.md", import.meta.url), "utf8");
    expect(shown).toContain(stdout.slice(0, stdout.indexOf("\n\n")));
    expect(svg).toBe(inDocs("pipeline"));
  });

  it("draws each pass of each stage once", async () => {
    const { svg } = await drawn("pipeline", "--stages", "3", "--micro-batches", "5");
    // Three boxes of the legend; three sets of counts.
    expect(svg.match(/rx="3"/g)?.length).toBe(3 + 3 * 3 * 5 * 2);
  });
});
