import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Random } from "../../src/disorder/random.js";
import { makePlace, type Place, untilNothingIsLeft } from "./left-behind.js";
import { commandPath } from "./run-command.js";

// What is left for ever fails by the test's own limit, which shows the seed.
const isLong = process.env.DFCCL_TEST_TIER === "long";
const limit = isLong ? 3_600_000 : 100_000;
/** Moments of each kind: before anything is there, and afterwards. */
const moments = Array.from({ length: isLong ? 28 : 2 }, (_, i) => i % 2 === 1);
const seed = Number(process.env.DFCCL_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const random = new Random(seed);

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => {
  expect({ seed, left: place.left() }).toEqual({ seed, left: [] });
  place.remove();
});

function start(args: readonly string[]): ChildProcess {
  const env = { ...process.env, ...place.env };
  return spawn(process.execPath, [commandPath, ...args], { cwd: place.folder, env, stdio: ["ignore", "pipe", "pipe"] });
}

async function firstLine({ stdout }: ChildProcess): Promise<void> {
  if (stdout) await once(stdout, "data");
}

async function atSomeMoment(child: ChildProcess, mostMs: number, act: () => void): Promise<number | string | null> {
  const ended = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  child.stdout?.resume();
  child.stderr?.resume();
  await new Promise((resolve) => setTimeout(resolve, random.below(mostMs)));
  act();
  const [code, signal] = await ended;
  return code ?? signal;
}

describe(`seed ${seed}: whatever ends it, nothing is left of`, () => {
  // A program of C's kind, one that starts another, and one that would rather stay.
  const programs = [
    ["a program", "exec sleep 1000"],
    ["one that starts others", "sleep 1000 & sleep 1000"],
    ["one that would rather stay", "trap '' TERM HUP INT; while :; do sleep 0.2; done"],
  ] as const;
  it.each(programs)("dfccl launch of %s by a SIGKILL", { timeout: limit }, async (_, script) => {
    for (const isThere of moments) {
      const child = start(["launch", "-n", "3", "sh", "-c", `echo there; ${script}`]);
      if (isThere) await firstLine(child);
      expect(await atSomeMoment(child, isThere ? 100 : 1_000, () => child.kill("SIGKILL"))).toBe("SIGKILL");
      await untilNothingIsLeft(place);
    }
  });

  it.each([
    ["SIGKILL", ["SIGKILL"]],
    ["SIGTERM", [143, "SIGTERM"]],
    ["SIGHUP", [129, "SIGHUP"]],
    ["SIGINT", [130, "SIGINT"]],
  ] as const)("dfccl perf by a %s", { timeout: limit }, async (signal, ends) => {
    for (const isThere of moments) {
      const child = start(["perf", "alltoallv", "-g", "2", "-b", "8", "-e", "8", "-N", "0"]);
      if (isThere) await firstLine(child);
      expect(ends).toContain(await atSomeMoment(child, 2_000, () => child.kill(signal)));
      await untilNothingIsLeft(place);
    }
  });

  it("dfccl perf whose reader has gone", { timeout: limit }, async () => {
    for (const _ of moments) {
      const child = start(["perf", "alltoallv", "-g", "2", "-b", "8", "-e", "8", "-N", "0"]);
      await firstLine(child);
      expect(await atSomeMoment(child, 500, () => child.stdout?.destroy())).toBe(141);
      await untilNothingIsLeft(place);
    }
  });
});
