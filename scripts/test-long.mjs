// `npm run test:long [-- --only PART_OF_A_NAME]`: soaks, big property runs and full-size sanitizer runs (long-tier.mjs).
// What was run puts its figures into docs/benchmarks/long-tier.json and .md, which are committed; each has its own commit.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { bold, green, line, red } from "./lib/console.mjs";
import { cacheDirectory, root } from "./lib/paths.mjs";
import { run, tail } from "./lib/run.mjs";
import { entries } from "./long-tier.mjs";
import { setup } from "./setup.mjs";

const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1] : undefined;
rmSync(join(cacheDirectory, "logs"), { recursive: true, force: true });
await setup({ for: "test" });

line(bold("Testing at length"));
const results = [];
for (const [index, { name, command, minutes }] of entries.entries()) {
  if (only && !name.includes(only)) continue;
  const log = `long-${index + 1}`;
  const { code, output, seconds } = await run(command, {
    log,
    timeoutMs: minutes * 60_000,
    env: { DFCCL_TEST_TIER: "long", NO_COLOR: "1" },
  });
  results.push({ name, command: command.join(" "), passed: code === 0, seconds: Math.round(seconds), figures: lastJson(output) });
  line(`${code === 0 ? green("✓") : red("✗")} ${name.padEnd(80)} ${`${seconds.toFixed(0)} s`.padStart(7)}`);
  if (code !== 0) line(tail(output, 60));
}
await publish(results);
const failed = results.filter(({ passed }) => !passed).length;
line(`${results.length - failed} passed, ${failed} failed, 0 skipped`);
process.exit(failed > 0 || results.length === 0 ? 1 : 0);

function lastJson(output) {
  try {
    const value = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "");
    return value !== null && typeof value === "object" ? value : {};
  } catch {
    return {};
  }
}

async function publish(entriesRun) {
  const first = async (...command) => (await run(command, { timeoutMs: 20_000 })).output.split("\n")[0].trim();
  const dirty = (await run(["git", "status", "--porcelain", "--untracked-files=no"], { timeoutMs: 20_000 })).output.trim() !== "";
  const commit = `${await first("git", "rev-parse", "--short", "HEAD")}${dirty ? "+" : ""}`;
  const date = new Date().toISOString().slice(0, 10);
  const folder = join(root, "docs", "benchmarks");
  const file = join(folder, "long-tier.json");
  const earlier = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { entries: [] };
  const report = {
    machine: {
      cpu: cpus()[0]?.model ?? "unknown",
      cores: cpus().length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      kernel: release(),
      node: process.version,
      compiler: await first("c++", "--version"),
    },
  };
  // What ran on another machine says so.
  const label = ({ cpu, cores }) => `${cores} cores of an ${cpu}`;
  const isElsewhere = earlier.machine !== undefined && label(earlier.machine) !== label(report.machine);
  const before = earlier.entries.map((entry) => (isElsewhere && !entry.machine ? { ...entry, machine: label(earlier.machine) } : entry));
  report.entries = entries.flatMap(({ name }) => {
    const now = entriesRun.find((entry) => entry.name === name);
    return now ? [{ ...now, commit, date }] : before.filter((entry) => entry.name === name);
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(join(folder, "long-tier.md"), markdown(report));
}

function markdown({ machine, entries: rows }) {
  // Lists, the cycle of a deadlock say, are in the JSON file.
  const figures = (values) =>
    Object.entries(values).flatMap(([key, value]) => {
      if (Array.isArray(value) || value === null) return [];
      return typeof value === "object" ? figures(value).map((figure) => `${key}: ${figure}`) : [`${key} ${value}`];
    });
  const missing = entries.filter(({ name }) => !rows.some((row) => row.name === name)).map(({ name }) => `- ${name}`);
  return [
    "# The long tier, as it was last run",
    "",
    "Command: `npm run test:long`, or `npm run test:long -- --only PART_OF_A_NAME`. Times are of this machine; what counts is that a",
    "line passed. A commit with + had changes beside it.",
    "",
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, Linux ${machine.kernel}, Node ${machine.node}, ${machine.compiler}.`,
    "",
    "| What | Passed | Seconds | Commit | Date | Figures |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows.map(
      ({ name, machine: elsewhere, passed, seconds, commit, date, figures: values }) =>
        `| ${name}${elsewhere ? ` (on ${elsewhere})` : ""} | ${passed ? "yes" : "**no**"} | ${seconds} | ${commit} | ${date} | ${figures(values).join(", ")} |`,
    ),
    ...(missing.length > 0 ? ["", "Not run yet:", "", ...missing] : []),
    "",
  ].join("\n");
}
