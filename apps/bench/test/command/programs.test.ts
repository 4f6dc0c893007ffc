import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { XMLValidator } from "fast-xml-parser";
import { afterAll, describe, expect, it } from "vitest";
import { type CommandOptions, type Finished, runCommand as runAsItIs } from "./run-command.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-programs-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Without what it says that it is at, which a busy machine may bring it to: that is no part of the answer. */
async function runCommand(args: readonly string[], options?: CommandOptions): Promise<Finished> {
  const finished = await runAsItIs(args, options);
  return { ...finished, stderr: finished.stderr.replaceAll(/^(?:Reading|Compiling|Proving|Drawing) .* …\n/gm, "") };
}
const example = (name: string): string => fileURLToPath(new URL(`../../../../examples/programs/${name}.ts`, import.meta.url));
const mscclFile = fileURLToPath(new URL("../../../../packages/compiler/test/msccl-algorithms/ncv4-ag_hier_4_LL.xml", import.meta.url));

describe("dfccl verify", () => {
  it("ends with 0 for what is right, be it written in the language or by MSCCL", async () => {
    const [ring, msccl] = await Promise.all([runCommand(["verify", example("ring")]), runCommand(["verify", mscclFile])]);
    expect([ring.code, ring.stdout]).toEqual([0, "Verified: ring, 28 steps on 4 ranks.\n"]);
    expect([msccl.code, msccl.stdout]).toEqual([0, "Verified: allgather_hierarchical, 96 steps on 4 ranks.\n"]);
  });

  it("ends with 1 and the line, what is there and what should be, for what is wrong", async () => {
    const { code, stdout, stderr } = await runCommand(["verify", example("mistaken")]);
    const text = stderr.replace(/\s+/g, " ");
    expect([code, stdout]).toEqual([1, ""]);
    const source = readFileSync(example("mistaken"), "utf8").split("\n");
    const line = 1 + source.findIndex((one) => one.includes("1 - rank, "));
    expect(text).toContain(`mistaken.ts:${line}:`);
    expect(text).toContain("output[0] of rank 0 holds input 0 of rank 1 and should hold input 0 of rank 0");
  });

  it("names files as from where it is called, also where it knows them by their whole paths", async () => {
    const there = join(folder, "there");
    mkdirSync(there);
    symlinkSync(fileURLToPath(new URL("../../../../examples/node_modules", import.meta.url)), join(folder, "node_modules"));
    writeFileSync(join(there, "package.json"), '{ "type": "module" }');
    copyFileSync(example("mistaken"), join(there, "mistaken.ts"));
    writeFileSync(join(there, "broken.ts"), "export default (;\n");
    writeFileSync(join(there, "bad.xml"), "<algo/>\n");
    // Two blocks of one rank that wait for each other.
    const block = (id: number) => `<tb id="${id}" send="-1" recv="-1" chan="0">
<step s="0" type="nop" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="0" depid="${1 - id}" deps="0" hasdep="1"/></tb>`;
    const algo = 'name="a" proto="Simple" nchannels="1" nchunksperloop="1" ngpus="1" coll="allreduce" inplace="0"';
    const gpu = 'id="0" i_chunks="1" o_chunks="1" s_chunks="0"';
    writeFileSync(join(there, "circle.xml"), `<algo ${algo}><gpu ${gpu}>${block(0)}${block(1)}</gpu></algo>`);
    writeFileSync(join(there, "empty.json"), '{ "ranks": [] }\n');
    const names = ["mistaken.ts", "broken.ts", "bad.xml", "circle.xml", "empty.json"];
    const outcomes = await Promise.all(names.map((name) => runCommand(["verify", name], { cwd: there })));
    expect(outcomes.map(({ code }) => code)).toEqual([1, 2, 1, 1, 1]);
    for (const [index, { stderr }] of outcomes.entries()) {
      expect(stderr).toMatch(new RegExp(`^${names[index]}:`));
      expect(stderr).not.toContain(folder);
    }
  });

  it("ends with 2 where there is no program", async () => {
    const empty = join(folder, "empty.ts");
    writeFileSync(empty, "export const nothing = 1;\n");
    const other = join(folder, "other.json");
    writeFileSync(other, '{ "name": "something-else" }\n');
    const outcomes = await Promise.all([
      runCommand(["verify", join(folder, "none.ts")]),
      runCommand(["verify", join(folder, "none.xml")]),
      runCommand(["verify", empty]),
      runCommand(["verify", example("ring"), "--export", "other"]),
      runCommand(["verify"]),
      runCommand(["verify", folder]),
      runCommand(["verify", other]),
    ]);
    expect(outcomes.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2, 2, 2]);
    expect(outcomes[0]?.stderr.replace(/\s+/g, " ")).toContain("none.ts: there is no such file.");
    expect(outcomes[6]?.stderr).toContain("it holds no program");
    expect(outcomes[5]?.stderr.replace(/\s+/g, " ")).toContain(`${folder}: it is a folder.`);
    expect(outcomes[2]?.stderr).toContain("it exports no program");
    expect(outcomes[3]?.stderr.replace(/\s+/g, " ")).toContain("Choose with --export: default");
  });
});

describe("a program's file", () => {
  const project = join(folder, "project");
  const inProject = (name: string): string => join(project, name);
  mkdirSync(inProject("node_modules/@dfccl"), { recursive: true });
  symlinkSync(fileURLToPath(new URL("../../../../packages/compiler", import.meta.url)), inProject("node_modules/@dfccl/compiler"));

  it.each(["{}", '{ "type": "module" }'])("is found, and its line named, beside a package.json of %s", async (manifest) => {
    writeFileSync(inProject("package.json"), manifest);
    for (const name of ["ring", "mistaken"]) copyFileSync(example(name), inProject(`${name}.ts`));
    copyFileSync(example("ring"), inProject("ring.js"));
    const [ring, inJavaScript, mistaken] = await Promise.all(
      ["ring.ts", "ring.js", "mistaken.ts"].map((name) => runCommand(["verify", inProject(name)])),
    );
    for (const one of [ring, inJavaScript]) expect([one?.stdout, one?.stderr]).toEqual(["Verified: ring, 28 steps on 4 ranks.\n", ""]);
    expect(mistaken?.stderr).toContain(`${inProject("mistaken.ts")}:7:33: `);
  });

  // 0 means proven.
  it.each([
    ["at once", "process.exit(0);"],
    ["while its program is defined", "export default defineProgram({ collective: allGather({ ranks: 2 }) }, () => process.exit(0));"],
    ["by waiting for nothing", "await new Promise(() => {});"],
  ])("that ends the process %s is no program", async (when, code) => {
    writeFileSync(inProject("package.json"), '{ "type": "module" }');
    // Of TypeScript, what waits for nothing waits for ever.
    const file = inProject(`ends-${when.replaceAll(" ", "-")}.mjs`);
    writeFileSync(file, `import { allGather, defineProgram } from "@dfccl/compiler";\n${code}\n`);
    const outcomes = await Promise.all(["verify", "compile", "run"].map((command) => runCommand([command, file])));
    for (const { code, stdout, stderr } of outcomes) {
      expect(stderr.replace(/\s+/g, " ")).toContain(`${file}: it ended the process while it was loaded.`);
      expect([code, stdout]).toEqual([2, ""]);
    }
  });

  it.each([
    ["that exports none", 'export default { ranks: "x" };', "it exports no program"],
    ["that ends the process", "process.exit(0);", "it ended the process while it was loaded"],
    ["that throws what can't be shown", "throw Object.create(null);", "it can't be loaded (what it throws can't be shown)"],
  ])("%s is none either where it has the last word on the exit code", async (what, code, problem) => {
    writeFileSync(inProject("package.json"), '{ "type": "module" }');
    const file = inProject(`listens-${what.replaceAll(/\W/g, "-")}.mjs`);
    writeFileSync(file, `process.on("exit", () => { process.exitCode = 0; });\n${code}\n`);
    const outcomes = await Promise.all(["verify", "compile", "run"].map((command) => runCommand([command, file])));
    for (const { code, stdout, stderr } of outcomes) {
      expect(stderr.replace(/\s+/g, " ")).toContain(problem);
      expect([code, stdout]).toEqual([2, ""]);
    }
  });

  it("that ends the process later fails the command", async () => {
    copyFileSync(example("ring"), inProject("later.ts"));
    writeFileSync(inProject("later.ts"), `${readFileSync(inProject("later.ts"), "utf8")}\nsetTimeout(() => process.exit(0));\n`);
    const { code, stdout, stderr } = await runCommand(["run", inProject("later.ts"), "--iterations", "100000"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^Ended before the command was done: a file that it loaded has called process\.exit\(\)/);
  });

  it.each(["{}", '{ "type": "module" }'])("that refuses itself is told with its own remedy, beside %s", async (manifest) => {
    writeFileSync(inProject("package.json"), manifest);
    writeFileSync(inProject("bad.ts"), 'import { allGather } from "@dfccl/compiler";\nallGather({ ranks: -2 });\n');
    const { code, stderr } = await runCommand(["verify", inProject("bad.ts")]);
    expect([code, stderr.replaceAll("\n", " ").trim()]).toEqual([
      2,
      `${inProject("bad.ts")}: ranks is -2. Give a whole number from 1 to 4096.`,
    ]);
  });
});

it("says in a sentence that a disk is full", async () => {
  const outcomes = await Promise.all(["compile", "draw"].map((command) => runCommand([command, example("ring"), "-o", "/dev/full"])));
  const told = "Nothing can be written to /dev/full (ENOSPC). Make room on its disk, or name a file on another.\n";
  for (const { code, stderr } of outcomes) expect([code, stderr]).toEqual([1, told]);
});

it("refuses to draw a chunk that nothing writes", async () => {
  const outcomes = await Promise.all(
    ["chunks", "instructions"].map((what) => runCommand(["draw", example("ring"), "--what", what, "--chunk", "999"])),
  );
  for (const { code, stdout, stderr } of outcomes) {
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.replace(/\s+/g, " ")).toContain("nothing writes a chunk 999.");
  }
});

describe("dfccl compile", () => {
  it("writes MSCCL's XML that verifies, with the instances that were asked for", async () => {
    const output = join(folder, "ring.xml");
    const compiled = await runCommand(["compile", example("ring"), "--instances", "2", "--protocol", "ll", "-o", output]);
    expect(compiled.code).toBe(0);
    expect(compiled.stdout).toContain("ll, 8 slots");
    expect(readFileSync(output, "utf8")).toMatch(
      /<algo name="ring" proto="LL" nchannels="2" nchunksperloop="8" ngpus="4" coll="allreduce"/,
    );
    expect((await runCommand(["verify", output])).stdout).toContain("Verified: ring, 56 steps");
  });

  it("prints every stage", async () => {
    const { code, stdout } = await runCommand(["compile", example("hierarchical"), "--stages"]);
    expect(code).toBe(0);
    const titles = stdout.match(/^\d\. \w+( DAG)?/gm);
    expect(titles).toEqual([
      "1. Program",
      "2. Chunk DAG",
      "3. Instruction DAG",
      "4. Simplified",
      "5. Fused",
      "6. Channels",
      "7. Blocks",
      "8. Program",
    ]);
    expect(stdout).toContain("recvReduceCopySend output[0] → output[0] from 4 to 2, finished");
  });

  it("prints the program as JSON", async () => {
    const { stdout } = await runCommand(["compile", example("ring"), "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ name: "ring", report: { steps: 28 }, program: { collective: "all-reduce" } });
  });
});

describe("dfccl draw", () => {
  it.each(["chunks", "instructions", "schedule"])("draws %s: well-formed SVG in which nothing lies outside the page", async (what) => {
    const output = join(folder, `${what}.svg`);
    expect((await runCommand(["draw", example("hierarchical"), "--what", what, "-o", output])).code).toBe(0);
    const svg = readFileSync(output, "utf8");
    expect(XMLValidator.validate(svg)).toBe(true);
    const [, width = 0, height = 0] = (/viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? []).map(Number);
    const boxes = [...svg.matchAll(/<g transform="translate\(([\d.]+) ([\d.]+)\)"><rect/g)];
    expect(boxes.length).toBeGreaterThan(30);
    for (const [, x, y] of boxes) expect(Number(x) < width && Number(y) < height).toBe(true);
  });

  it("refuses a graph that is too large to lay out, and draws the part of it that the remedy names", async () => {
    const command = ["draw", "ring-all-reduce", "--ranks", "34"];
    const [whole, part, schedule] = await Promise.all([
      runCommand([...command, "--what", "chunks"]),
      runCommand([...command, "--what", "chunks", "--chunk", "0"]),
      runCommand([...command, "--what", "schedule"]),
    ]);
    expect([whole.code, whole.stdout]).toEqual([2, ""]);
    const text = whole.stderr.replace(/\s+/g, " ");
    expect(text).toContain("has 2,244 boxes and 3,332 lines: more than 2,000 and 4,000 would take too long to lay out.");
    expect(text).toContain("Draw what writes one chunk, with --chunk 0; take fewer ranks; or draw the schedule, with --what schedule.");
    expect([part.code, part.stderr, XMLValidator.validate(part.stdout)]).toEqual([0, "", true]);
    expect([schedule.code, schedule.stderr, schedule.stdout.length > 100_000]).toEqual([0, "", true]);
  });

  it("draws an MSCCL file's schedule, and says that it has no DAG", async () => {
    const [schedule, dag] = await Promise.all([runCommand(["draw", mscclFile]), runCommand(["draw", mscclFile, "-w", "chunks"])]);
    expect(XMLValidator.validate(schedule.stdout)).toBe(true);
    expect([dag.code, dag.stderr.replace(/\s+/g, " ").includes("has no DAGs")]).toEqual([2, true]);
  });
});

describe("dfccl run", () => {
  it("runs programs on the engine and checks every bit", async () => {
    const small = ["--bytes", "4K", "--iterations", "2", "--copies", "2"];
    const files = [example("ring"), example("all-to-next"), example("hierarchical"), mscclFile];
    for (const file of files) {
      const { code, stdout, stderr } = await runCommand(["run", file, ...small]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toContain("Right to the bit");
    }
  });

  it("refuses what isn't right before it runs", async () => {
    expect((await runCommand(["run", example("mistaken")])).code).toBe(1);
  });
});

describe("comparing programs", () => {
  const small = ["-b", "1K,8K", "-n", "1"];

  it("dfccl bench programs measures them beside the built-in ones, and writes what it found", async () => {
    const page = join(folder, "page.md");
    const { code, stdout } = await runCommand(["bench", "programs", example("ring"), ...small, "--json", "-", "--markdown", page]);
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as { results: { bytes: number; measured: { name: string; seconds: number }[] }[] };
    expect(report.results.map(({ bytes }) => bytes)).toEqual([1024, 8192]);
    const names = report.results[0]?.measured.map(({ name }) => name);
    expect(names?.slice(0, 2)).toEqual(["ring", "built-in direct-one-shot"]);
    expect(readFileSync(page, "utf8")).toContain("| 1 KiB | 8 KiB |");
  });

  it("dfccl tune programs writes the table of the fastest", async () => {
    const table = join(folder, "table.json");
    const { code, stdout } = await runCommand(["tune", "programs", example("ring"), ...small, "-o", table]);
    expect([code, stdout.includes(`Written to ${table}`)]).toEqual([0, true]);
    const { rules } = JSON.parse(readFileSync(table, "utf8")) as { rules: { minBytes: number; maxBytes: number }[] };
    expect([rules[0]?.minBytes, rules.at(-1)?.maxBytes]).toEqual([0, 0]);
  });

  it("refuses programs for different ranks", async () => {
    const { code, stderr } = await runCommand(["bench", "programs", example("ring"), example("hierarchical")]);
    expect([code, stderr.replace(/\s+/g, " ").includes("programs for all-reduce on 4 ranks")]).toEqual([1, true]);
  });
});
