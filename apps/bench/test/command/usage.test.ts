import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { escapeCharacter, runCommand } from "./run-command.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-usage-"));
afterAll(() => rmSync(folder, { recursive: true }));
const notJson = join(folder, "not.json");
writeFileSync(notJson, "{");

describe("a value that can't be", () => {
  it.each([
    ["an unknown command", ["sort"], /unknown command 'sort'/],
    ["an unknown option", ["disorder", "--rank", "3"], /unknown option '--rank'/],
    ["an argument too many", ["disorder", "resnet50"], /too many arguments/],
    ["an option without its value", ["disorder", "--ranks"], /argument missing/],
    ["no ranks", ["disorder", "--ranks", "0"], /whole number from 1 to 256/],
    ["too many ranks", ["disorder", "--ranks", "257"], /whole number from 1 to 256/],
    ["half a rank", ["disorder", "--ranks", "2.5"], /whole number/],
    ["ranks that are no number", ["disorder", "--ranks", "all"], /whole number/],
    ["empty ranks", ["disorder", "--ranks", ""], /whole number/],
    ["negative iterations", ["disorder", "--iterations", "-1"], /whole number from 1 to 1000000/],
    ["infinite iterations", ["disorder", "--iterations", "Infinity"], /whole number/],
    ["an unknown order", ["disorder", "--order", "sorted"], /random, reverse, skewed, same/],
    ["a probability above 1", ["disorder", "--sync", "1.5"], /number from 0 to 1/],
    ["a probability that is no number", ["disorder", "--sync", "often"], /number from 0 to 1/],
    ["a negative seed", ["disorder", "--seed", "-3"], /whole number/],
    ["a seed of more than 31 bits", ["disorder", "--seed", "2147483648"], /whole number/],
    ["a scale of 0", ["disorder", "--scale", "0"], /number from/],
    ["a scale above 1", ["disorder", "--scale", "2"], /number from/],
    ["an unknown workload", ["disorder", "--workload", "alexnet"], /no built-in workload and no file/],
    ["a workload that isn't JSON", ["disorder", "--workload", notJson], /isn't JSON/],
    ["an unknown policy", ["disorder", "--policy", "lazy"], /Policy lazy: there is none of that name/],
    ["the policy of the control", ["disorder", "--policy", "in-order"], /Policy in-order/],
    ["a tuning that isn't there", ["disorder", "--policy", join(folder, "none.json")], /Look at the path/],
    ["a tuning that isn't JSON", ["disorder", "--policy", notJson], /it isn't JSON/],
    ["tuned, without a tuning", ["disorder", "--policy", "tuned"], /Run dfccl tune first/],
    ["a tuning of one rank", ["tune", "--ranks", "1"], /whole number from 2 to 256/],
    ["a tuning that can't be written", ["tune", "--output", "/nowhere/tuning.json"], /Nothing can be written into/],
    ["sizes of half an element", ["bench", "collectives", "--bytes", "8,6"], /multiple of 4/],
    ["a list with a gap", ["bench", "collectives", "--ranks", "2,,4"], /whole number from 2 to 64/],
    ["no repetitions", ["bench", "collectives", "--repetitions", "0"], /whole number/],
    ["a folder instead of a file", ["bench", "collectives", "--json", folder], /must be a file/],
    ["what only a clone measures", ["bench", "mpi"], /unknown command 'mpi'/],
    ["an unknown benchmark", ["bench", "disk"], /unknown command 'disk'/],
    [
      "processes behind the program",
      ["run", "ring-all-reduce", "-n", "8"],
      /Write -n before everything else: dfccl run -n 8 ring-all-reduce/,
    ],
    ["a program in a format that there isn't", ["compile", "ring-all-reduce", "-o", join(folder, "ring.yaml")], /end in \.xml or \.json/],
    ["a drawing in one", ["draw", "ring-all-reduce", "-o", join(folder, "ring.png")], /end in \.svg/],
    ["a report in one", ["report", notJson, "-o", join(folder, "report.pdf")], /end in \.html/],
    ["stages as JSON", ["compile", "ring-all-reduce", "--json", "--stages"], /--stages prints text/],
    ["limits of no file", ["compile", "ring-all-reduce", "--ignore-limits"], /--ignore-limits is for --output FILE\.xml/],
    ["a chunk of a schedule", ["draw", "ring-all-reduce", "--chunk", "0"], /--chunk is for --what chunks and --what instructions/],
    ["to go on from nowhere", ["train", "mnist", "--resume"], /--resume needs --checkpoint FOLDER/],
    ["checkpoints nowhere", ["train", "mnist", "--checkpoint-every", "5"], /--checkpoint-every needs --checkpoint FOLDER/],
    ["a model's option without a model", ["train", "synthetic", "--learning-rate", "1"], /--learning-rate is for models/],
    ["a workload of a model", ["train", "mnist", "--workload", "gpt2"], /--workload is for synthetic/],
    ["draws where nothing is drawn", ["simulate", "deadlock", notJson, "--draws", "2"], /--draws is for --preset table1/],
    ["a scale of no preset", ["simulate", "schedule", notJson, "--gpus", "8"], /--gpus is for --preset scale/],
    ["a preset with a tile", ["simulate", "program", "--preset", "tiles", "--tile", "4K"], /--tile is for a program's file/],
    ["a scale of no hybrid", ["bench", "schedules", "--hybrid-scale", "0.5"], /--hybrid-scale is for --hybrid/],
    ["no processes", ["run", "-n", "0", "node"], /whole number from 1 to 1024/],
    ["a doctor's option that isn't there", ["doctor", "--fix"], /unknown option/],
  ])("ends with 2 and says what is possible: %s", async (_, args, message) => {
    const { code, stdout, stderr } = await runCommand(args, { env: { XDG_CONFIG_HOME: folder } });
    expect(stderr.replaceAll("\n", " ")).toMatch(message);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});

describe("help", () => {
  it.each([
    [[]],
    [["disorder"]],
    [["tune"]],
    [["bench"]],
    [["bench", "collectives"]],
    [["bench", "schedules"]],
    [["boxing"]],
    [["pipeline"]],
    [["perf"]],
    [["compare"]],
    [["report"]],
    [["stickiness"]],
    [["doctor"]],
    [["simulate"]],
    [["simulate", "deadlock"]],
    [["simulate", "schedule"]],
  ])("of dfccl %j shows options and an example, within 80 columns", async (command) => {
    const { code, stdout, stderr } = await runCommand([...command, "--help"]);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^Usage: dfccl/);
    expect(stdout).toContain("--help");
    expect(stdout).toMatch(/\n +\$ dfccl /);
    expect(stdout).not.toContain(escapeCharacter);
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(code).toBe(0);
  });

  it("names the exit codes of every command that runs something", async () => {
    for (const command of [
      ["disorder"],
      ["tune"],
      ["bench", "collectives"],
      ["bench", "schedules"],
      ["perf"],
      ["compare"],
      ["report"],
      ["stickiness"],
      ["doctor"],
    ]) {
      const { stdout } = await runCommand([...command, "--help"]);
      expect(stdout).toMatch(/Exit codes:\n +0 .*\n(.*\n)* +1 .*\n(.*\n)* +2 /);
    }
  });

  it("is what dfccl alone prints, as an error", async () => {
    const { code, stdout, stderr } = await runCommand([]);
    expect(stdout + stderr).toContain("Usage: dfccl");
    expect(code).toBe(2);
  });
});

it("knows its version", async () => {
  const { code, stdout } = await runCommand(["--version"]);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\S*\ncommit [0-9a-f]{7,}\+?, clone \S+, linux-\w+, Node \d+\.\d+\.\d+\n$/);
  expect(code).toBe(0);
});
