import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { makeProgram } from "../../src/command-line.js";
import { exitCodesText, exitTable, exitTableText } from "../../src/terminal/exit-codes.js";

/** What a help says of exit codes. */
function codesIn(help: string): number[] {
  const [, part = ""] = /^Exit codes.*:\n((?: .*\n?)*)/m.exec(help) ?? [];
  return [...part.matchAll(/^ {2}(\d+(?:, \d+)*) /gm)].flatMap(([, codes = ""]) => codes.split(", ").map(Number));
}

/** Every command that does something, with its help. */
function helps(command: Command, path: readonly string[] = []): { readonly path: readonly string[]; readonly help: string }[] {
  const below = command.commands.flatMap((one) => helps(one, [...path, one.name()]));
  return below.length > 0 ? below : [{ path, help: helpOf(command) }];
}

function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

describe("the table of exit codes", () => {
  it("is shown by dfccl --help", async () => {
    const help = helpOf(await makeProgram());
    expect(help).toContain(exitTableText());
    expect(codesIn(help)).toEqual(Object.keys(exitTable).map(Number));
  });

  it("has every code that a command's help names, and each command names how it can end", async () => {
    const commands = helps(await makeProgram());
    expect(commands.length).toBeGreaterThan(24);
    for (const { path, help } of commands) {
      const codes = codesIn(help);
      expect({ path, codes }).toEqual({ path, codes: expect.arrayContaining([0, 1, 2, 129, 130, 143]) });
      for (const code of codes) expect(Object.keys(exitTable)).toContain(String(code));
    }
  });

  it("lines up within 80 columns, in order", () => {
    const text = exitCodesText({ 0: "well", 1: "a long reason, ".repeat(8).trim(), 2: "usage", 255: "last" }, "nothing is written");
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(codesIn(text)).toEqual([0, 1, 2, 129, 130, 143, 255]);
  });
});
