// `npm run fuzz [-- --minutes N] [--seed S] [--only NAME] [--case N]`: anything to the command line, the JavaScript and C APIs,
// programs, XML, JSON and the port where processes meet. A failure prints what to type to see it again.
import { fork } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { stacksOf } from "./fuzz/stacks.mjs";
import { bold, green, line, red } from "./lib/console.mjs";
import { root } from "./lib/paths.mjs";

/** File of each target; how many cases a child tries before a new one takes its place, and how many `npm test` tries. */
export const targets = {
  "command-line": { batch: 40, short: 24 },
  javascript: { batch: 2_000, short: 1_500 },
  "c-api": { batch: 200, short: 60 },
  programs: { batch: 1_000, short: 300 },
  xml: { batch: 5_000, short: 500 },
  json: { batch: 5_000, short: 1_000 },
  sockets: { batch: 10, short: 2 },
};

/** No case may be silent for so long, on a machine that is busy with other things too. */
const longestMs = 240_000;

/**
 * Tries cases of a target in a process of its own.
 * @returns {tried, faults: {at, fault}[]}; after a crash or a hang it stops behind the case that it was at.
 */
export function tryCases(target, seed, from, to, endsAt = Number.POSITIVE_INFINITY) {
  const child = fork(join(root, "scripts", "fuzz", "child.mjs"), [target, seed, from, to].map(String), {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const faults = [];
  let [at, said, isOver, isReady] = [from, "", false, false];
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said = (said + text).slice(-4000)));
  const kill = () => {
    faults.push({ at, fault: `nothing happened for ${longestMs / 1000} s\n${said}\n${stacksOf(child.pid)}` });
    child.kill("SIGKILL");
  };
  let timer = setTimeout(kill, longestMs);
  child.on("message", (message) => {
    clearTimeout(timer);
    timer = setTimeout(kill, longestMs);
    at = message.at ?? at;
    isReady ||= message.ready === true;
    if (message.fault) faults.push({ at, fault: message.fault });
    else if (performance.now() > endsAt && !isOver) {
      isOver = true;
      child.send("stop");
    }
  });
  return new Promise((resolve) => {
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (!isReady) throw new Error(`the fuzzer of ${target} itself can't begin: ${faults[0]?.fault ?? said}`);
      const isCrash = (code !== 0 || signal !== null) && !isOver && faults.at(-1)?.at !== at;
      if (isCrash) faults.push({ at, fault: `the process ended with ${signal ?? code}\n${said}` });
      resolve({ tried: at - from + (isOver ? 0 : 1), faults });
    });
  });
}

/** The one line that shows a failure again. */
export const replay = (target, seed, at) => `npm run fuzz -- --only ${target} --seed ${seed} --case ${at}`;

async function main() {
  const values = read();
  const seed = numberOf("--seed", values.seed ?? String(Math.floor(Math.random() * 2 ** 31)));
  const names = values.only === undefined ? Object.keys(targets) : values.only.split(",");
  const unknown = names.find((name) => !Object.hasOwn(targets, name));
  if (unknown !== undefined) refuse(`There is no target "${unknown}". There are: ${Object.keys(targets).join(", ")}.`);
  if (values.case !== undefined && names.length !== 1) refuse("A case is of one target: name it with --only.");
  const minutes = numberOf("--minutes", values.minutes ?? "1");
  line(bold(`Fuzzing, seed ${seed}`));
  const total = { tried: 0, failed: 0, faults: [] };
  if (values.case !== undefined) {
    const at = numberOf("--case", values.case);
    await round(names[0], seed, at, at + 1, Number.POSITIVE_INFINITY, total);
  } else {
    const endsAt = performance.now() + minutes * 60_000;
    const next = Object.fromEntries(names.map((name) => [name, 0]));
    while (performance.now() < endsAt) {
      for (const name of names) {
        if (performance.now() >= endsAt) break;
        // A share of the time each, whatever a case of it costs.
        const until = Math.min(endsAt, performance.now() + Math.max(2_000, (minutes * 60_000) / names.length / 4));
        next[name] += await round(name, seed, next[name], next[name] + targets[name].batch, until, total);
      }
    }
  }
  // Once more where they are found, after an hour's lines.
  for (const text of total.faults) line(text);
  line(`${total.tried} cases, ${total.failed} failed, seed ${seed}`);
  process.stdout.write(`${JSON.stringify({ cases: total.tried, failures: total.failed, seed })}\n`);
  process.exitCode = total.failed > 0 ? 1 : 0;
}

async function round(name, seed, from, to, endsAt, total) {
  const { tried, faults } = await tryCases(name, seed, from, to, endsAt);
  total.tried += tried;
  total.failed += faults.length;
  line(`${faults.length === 0 ? green("✓") : red("✗")} ${name.padEnd(14)} cases ${from} to ${from + tried - 1}`);
  for (const { at, fault } of faults) {
    total.faults.push(`${red(replay(name, seed, at))}\n${fault}\n`);
    line(total.faults.at(-1));
  }
  return tried;
}

function read() {
  const option = { type: "string" };
  try {
    return parseArgs({ options: { minutes: option, seed: option, only: option, case: option } }).values;
  } catch (error) {
    return refuse(`${error.message}. Usage: npm run fuzz -- [--minutes N] [--seed S] [--only NAME,NAME] [--case N]`);
  }
}

function numberOf(option, text) {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value >= 2 ** 32) refuse(`${option} is "${text}". Give a number from 0.`);
  return value;
}

function refuse(message) {
  line(red(message));
  process.exit(2);
}

if (process.argv[1] === import.meta.filename) await main();
