import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command, Option } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeProgram } from "../../src/command-line.js";
import { outputFileOrDash, outputFolder } from "../../src/commands/options.js";
import { commandTable } from "../../src/completion/command-table.js";
import { exitTable } from "../../src/terminal/exit-codes.js";
import { runInProcess } from "./in-process.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-bad-input-"));
const place = join(folder, "place");
const bad = {
  directory: join(folder, "directory"),
  fifo: join(folder, "fifo"),
  missing: join(folder, "missing", "file.json"),
  device: "/dev/null",
  empty: join(folder, "empty.json"),
  binary: join(folder, "binary.json"),
  // Of which not even root may do more.
  unwritable: "/proc/none.json",
  unreadable: "/proc/self/task",
};
const variables = { XDG_CONFIG_HOME: join(folder, "config"), TMPDIR: join(folder, "tmp") };
const before = { cwd: process.cwd(), env: Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]])) };

beforeAll(() => {
  for (const path of [bad.directory, place, variables.TMPDIR]) mkdirSync(path);
  execFileSync("mkfifo", [bad.fifo]);
  writeFileSync(bad.empty, "");
  writeFileSync(bad.binary, Buffer.from([0, 255, 254, 10, 0]));
  Object.assign(process.env, variables);
  process.chdir(place);
});
afterAll(() => {
  process.chdir(before.cwd);
  for (const [name, value] of Object.entries(before.env)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  rmSync(folder, { recursive: true });
});

/** Everything below the folder, with what it holds. */
function everything(): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    return entry.isFile() ? `${path}: ${readFileSync(path, "base64")}` : path;
  });
}

interface Case {
  readonly args: readonly string[];
  readonly code: number;
}

const program = await makeProgram();

function commandAt(path: readonly string[]): Command {
  return path.reduce((command, name) => command.commands.find((one) => one.name() === name) ?? command, program);
}

/** Values that an option's parser, whatever it is, must refuse; of a file, those that aren't one. */
function badValues(option: Option): readonly string[] {
  // What is to be read has no parser: it is looked for when it is needed.
  const isOutput = option.parseArg !== undefined && option.flags.includes("<file");
  const dash = option.parseArg === outputFileOrDash ? [] : ["-"];
  if (isOutput) return ["", ...dash, bad.directory, bad.missing, bad.unwritable];
  if (option.parseArg === outputFolder) return ["-", bad.empty, bad.device, bad.fifo, join(bad.unwritable, "below")];
  if (option.parseArg === undefined && option.argChoices === undefined) return [];
  return ["", "nonsense", "-1.5", "9e99"];
}

/** What may be anything; of machines, any name. */
const freeText: ReadonlySet<string> = new Set(["--title", "--job", "--export", "--hosts"]);
/** Given as names or lists of them: refused when they are looked for, where all before is in order. */
const inputs: readonly Case[] = Object.values({ ...bad, nowhere: "" }).flatMap((path): Case[] => [
  { args: ["disorder", "--workload", path], code: 2 },
  { args: ["disorder", "--policy", path], code: 2 },
  { args: ["tune", "--workload", path], code: 2 },
  { args: ["stickiness", "--workload", path], code: 2 },
  { args: ["train", "synthetic", "--workload", path], code: 2 },
  { args: ["train", "--synthetic", path], code: 2 },
  { args: ["bench", "schedules", "--workload", path], code: 2 },
  { args: ["report", path], code: 2 },
  { args: ["compare", path, path], code: 2 },
  ...["compile", "verify", "draw", "run"].map((name): Case => ({ args: [name, path], code: 2 })),
  { args: ["bench", "programs", path], code: 2 },
  { args: ["tune", "programs", path], code: 2 },
  ...["deadlock", "schedule", "program"].map((name): Case => ({ args: ["simulate", name, path], code: 2 })),
]);

function casesOf(path: readonly string[]): Case[] {
  const command = commandAt(path);
  const perf = path[0] === "perf";
  const named = command.registeredArguments.filter(({ required }) => required).map(() => (perf ? "all_reduce" : bad.missing));
  const all: Case[] = perf ? [] : [{ args: [...path, "--no-such-option", ...named], code: 2 }];
  if (named.length > 0) all.push({ args: path, code: 2 });
  if (!perf && command.registeredArguments.every(({ variadic }) => !variadic))
    all.push({ args: [...path, ...named, ...named, "more", "more"], code: 2 });
  for (const option of command.options) {
    const name = option.long ?? option.short ?? "";
    if (!option.required || freeText.has(name)) continue;
    all.push({ args: [...path, name], code: 2 });
    const values = badValues(option);
    all.push(...values.map((value): Case => ({ args: [...path, name, value, ...named], code: 2 })));
    for (const value of values.slice(1, 2)) all.push({ args: [...path, `${name}=${value}`, name, value, ...named], code: 2 });
  }
  return all;
}

const perfCases: readonly Case[] = commandTable(program)
  .filter(({ path }) => path.join(" ") === "perf")
  .flatMap(({ options }) => options)
  .filter(({ takesValue, names }) => takesValue && !names.includes("--output_file"))
  .flatMap(({ names }) =>
    names.flatMap((name): Case[] => [
      { args: ["perf", "all_reduce", name], code: 255 },
      ...["nonsense", "", "-7", "9e99", "😀"].map((value): Case => ({ args: ["perf", "all_reduce", name, value], code: 255 })),
    ]),
  );
const perfOutputs: readonly Case[] = ["-", bad.directory, bad.missing, bad.unwritable].map((path) => ({
  args: ["perf", "all_reduce", "-g", "2", "-b", "8", "-e", "8", "-J", path],
  code: 255,
}));

const paths = commandTable(program)
  .filter(({ commands }) => commands.length === 0)
  .map(({ path }) => path);
const groups: readonly (readonly [string, readonly Case[]])[] = [
  ...paths.map((path) => [path.join(" "), casesOf(path)] as const),
  ["perf's own options", perfCases],
  ["perf's file", perfOutputs],
  ["files to read", inputs],
];

describe("bad input", () => {
  it("has hundreds of cases", () => {
    expect(groups.flatMap(([, cases]) => cases).length).toBeGreaterThan(300);
  });

  it.each(groups)("of %s ends with a code of the table and a remedy, and leaves nothing", async (_, cases) => {
    const there = everything();
    const wrong: unknown[] = [];
    for (const { args, code } of cases) {
      const said = await runInProcess(args);
      const told = { args, code: said.code, stderr: said.stderr };
      if (said.code !== code || !(said.code in exitTable)) wrong.push({ ...told, expected: code });
      // Whole sentences, of which the last says what to do, or where that stands.
      if (!/[.)]\s*$/.test(said.stderr) || /\n\s+at |\[object |undefined/.test(said.stderr)) wrong.push({ ...told, says: "no remedy" });
      const left = everything().filter((entry) => !there.includes(entry));
      if (left.length > 0) wrong.push({ args, left });
    }
    expect(wrong).toEqual([]);
  });
});
