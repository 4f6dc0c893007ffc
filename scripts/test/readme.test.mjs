// What a newcomer reads first says what there is, and no more than was measured.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../lib/paths.mjs";

const read = (page) => readFileSync(join(root, page), "utf8");
const readme = read("README.md");

describe("the command line", () => {
  const help = execFileSync(process.execPath, [join(root, "apps", "bench", "dist", "cli.js"), "--help"], { encoding: "utf8" });
  const offered = [...help.matchAll(/^ {2}([a-z-]+)(?: [[<]| {2,})/gm)].map(([, name]) => name).filter((name) => name !== "help");

  it.each(["README.md", "apps/bench/README.md"])("has every command of its help in %s, and no other", (page) => {
    const [, table = ""] = /^\| Command \| What for \|\n(.*?)\n\n/ms.exec(read(page)) ?? [];
    const firstColumn = table.split("\n").map((row) => row.split("|")[1] ?? "");
    const told = firstColumn.flatMap((cell) => [...cell.matchAll(/`([a-z-]+)/g)].map(([, name]) => name));
    expect([...new Set(told)].sort()).toEqual([...offered].sort());
  });
});

it("the simulator's page predicts what was measured last", () => {
  const measured = join(root, "docs", "benchmarks", "openmpi.json");
  const command = ["simulate", "schedule", "--preset", "calibrate", "--measured", measured];
  const printed = execFileSync(process.execPath, [join(root, "apps", "bench", "dist", "cli.js"), ...command], { encoding: "utf8" });
  expect(read("docs/simulator.md")).toContain(printed.trimEnd());
});

describe("what the README says of benchmarks", () => {
  /** The last cells of a page's first table, as numbers. */
  const ratios = (page) => [...read(page).matchAll(/^\| .* ([\d.]+)× \|$/gm)].map(([, ratio]) => Number(ratio));

  it("of OpenMPI, ranks of one process", () => {
    const all = ratios("docs/benchmarks/openmpi.md");
    expect(readme).toContain(`${Math.min(...all)} to ${Math.max(...all)} times, at every size`);
    expect(Math.min(...all)).toBeGreaterThan(1);
  });

  it("of OpenMPI, one rank a process", () => {
    const all = ratios("docs/benchmarks/processes.md");
    expect(readme).toContain(`up to ${Math.max(...all)} times |`);
    const behind = [...read("docs/benchmarks/processes.md").matchAll(/^\| (.+?) \| (\d+) \|.* (0\.\d+)× \|$/gm)];
    expect(behind).not.toEqual([]);
    for (const [, size, ranks, ratio] of behind) expect(readme).toContain(`${size} on ${ranks} ranks, ${ratio}`);
  });

  it("of every collective beside OpenMPI", () => {
    const [first] = read("docs/benchmarks/collectives.md").split("## Times");
    expect([...first.matchAll(/^\| [a-z_]+ \|/gm)]).toHaveLength(11);
    const below = [...first.matchAll(/^\| ([a-z_]+) \|(.*)$/gm)].flatMap(([, name, cells]) =>
      [...cells.matchAll(/([\d.]+)×/g)].filter(([, ratio]) => Number(ratio) < 1).map(([, ratio]) => ({ name, ratio })),
    );
    expect(readme).toContain(/ahead in (66 of 66) cases/.exec(first)[1]);
    expect(below.map(({ name }) => name)).toEqual(["broadcast", "reduce", "scatter", "gather"]);
    const sorted = below.map(({ ratio }) => ratio).sort();
    expect(readme).toContain(`broadcast, reduce, scatter and gather of 8 or 32 B, ${sorted[0]} to ${sorted.at(-1)}`);
  });

  it("of Gloo, and its page of its rows", () => {
    const { rows } = JSON.parse(read("docs/benchmarks/pytorch.json"));
    expect(rows).toHaveLength(5 * 8 * 2); // collectives, sizes, 2 and 4 ranks
    const times = ({ dfccl, gloo }) => gloo.median / dfccl.median;
    const all = rows.map(times);
    expect(readme).toContain(`${Math.min(...all).toFixed(0)} to ${Math.max(...all).toFixed(0)} times, at every size`);
    const small = (row) => row.bytes <= 256 * 1024;
    const counted = [2, 4].map((ranks) => {
      const own = rows.filter((row) => row.ranks === ranks);
      const below = own.filter((row) => small(row) && times(row) >= 10).length;
      const above = own.filter((row) => !small(row) && times(row) >= 3).length;
      return [`${below} of ${own.filter(small).length}`, `${above} of ${own.filter((row) => !small(row)).length}`];
    });
    const page = read("docs/benchmarks/pytorch.md");
    expect(page).toContain(`10 times faster | ${counted.map(([below]) => below).join(" | ")} |`);
    expect(page).toContain(`3 times faster | ${counted.map(([, above]) => above).join(" | ")} |`);
  });

  it("of NCCL", () => {
    const page = read("docs/benchmarks/gpu.md");
    const counts = [/ahead in (113 of 121) cases/, /ahead in (77), and/, /Ahead in (61 of 121) cases/, /in (38 of 110) back to back/];
    for (const count of counts) expect(readme).toContain(` ${count.exec(page)?.[1] ?? "is not in the page"}`);
    // The least of each of the tables of every collective: four GPUs one at a time and back to back, then two.
    const tables = [...page.matchAll(/^\|[^\n]*(?:0–64 B|8–32 B)[^\n]*\n\|[^\n]*\n((?:\|[^\n]*\n)+)/gm)].map(([, rows]) =>
      Math.min(...[...rows.matchAll(/(?<=\| )[\d.]+(?= \|)/g)].map(Number)),
    );
    expect(tables).toEqual([0.06, 0.02, 0.92, 0.54]);
    for (const least of ["0.92 to 0.98", "down to 0.54", "down to 0.06"]) expect(readme).toContain(least);
  });
});

it("the FAQ has the figure of what the engine adds from its table", () => {
  const [, added] = /^\| 8 B \| 2 \| [\d.]+ \| [\d.]+ \| (\d+) \|/m.exec(read("docs/benchmarks/overheads.md"));
  expect(read("docs/faq.md").replaceAll("\n", " ")).toContain(`${added} ns a rank for an all-reduce of 8 bytes on two ranks`);
});
