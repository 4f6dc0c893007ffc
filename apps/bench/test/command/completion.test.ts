import { execFileSync } from "node:child_process";
import { collectiveNames } from "@dfccl/collective-tests";
import { describe, expect, it } from "vitest";
import { makeProgram } from "../../src/command-line.js";
import { commandTable } from "../../src/completion/command-table.js";
import { completionScript, shells } from "../../src/completion/shells.js";

const table = commandTable(await makeProgram());

/** What bash offers at the end of each line; a line ends with the word that is begun. */
function completeInBash(lines: readonly string[][]): string[][] {
  const script = completionScript("bash", table);
  const asked = lines.map((words) => {
    const list = ["dfccl", ...words].map((word) => `'${word}'`).join(" ");
    return `COMP_WORDS=(${list}); COMP_CWORD=${words.length}; COMPREPLY=(); _dfccl; echo "\${COMPREPLY[*]}"`;
  });
  const said = execFileSync("bash", ["--norc", "-c", `${script}\n${asked.join("\n")}`], { encoding: "utf8" });
  return said
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => line.split(" ").filter(Boolean));
}

describe("completion", () => {
  it("offers in bash every command, and every option of each", () => {
    const offered = completeInBash(table.map(({ path }) => [...path, ""]));
    for (const [i, { path, commands, options }] of table.entries()) {
      expect({ path, offered: offered[i] }).toEqual({
        path,
        offered: expect.arrayContaining([...commands, ...options.flatMap(({ names }) => names)]),
      });
    }
  });

  it("offers in bash what may follow an option, and finds the command behind others' values", () => {
    expect(
      completeInBash([
        ["disorder", "--order", ""],
        ["disorder", "--seed", "3", "--backend", "c"],
        ["bench", "sch"],
        ["completion", "z"],
        ["disorder", "--json", "--ord"],
        ["report", "--output", ""],
      ]),
    ).toEqual([["random", "reverse", "skewed", "same"], ["cpu", "cuda"], ["schedules"], ["zsh"], ["--order"], []]);
  });

  it("offers in bash the programs of perf", () => {
    expect(
      completeInBash([
        ["perf", "all_"],
        ["perf", "all_reduce", "--backend", "cpu", "send"],
      ]),
    ).toEqual([["all_reduce", "all_gather"], ["sendrecv"]]);
    expect(completeInBash([["perf", ""]])[0]).toEqual(expect.arrayContaining([...collectiveNames]));
  });

  it.each(shells)("knows the programs of perf in %s", (shell) => {
    const offered = completionScript(shell, table)
      .split("\n")
      .filter((line) => /['"]perf['"]/.test(line) && collectiveNames.every((name) => line.includes(name)));
    expect(offered).toHaveLength(1);
  });

  it.each(shells)("knows every option in %s, each with its command", (shell) => {
    const script = completionScript(shell, table);
    for (const { options } of table) {
      for (const name of options.flatMap(({ names }) => names))
        expect(script).toContain(shell === "fish" ? name.replace(/^--?/, "") : name);
    }
    for (const path of ["bench programs", "simulate deadlock", "tune programs"]) expect(script).toContain(path);
  });
});
