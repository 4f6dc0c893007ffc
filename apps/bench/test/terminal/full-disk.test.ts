import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { expect, it } from "vitest";
import { commandPath } from "../command/run-command.js";

it.each([{ args: ["perf", "all_reduce", "-g", "2", "-b", "8", "-e", "8"] }, { args: ["doctor"] }])(
  "output that a full disk refuses ends $args.0 with a sentence",
  ({ args }) => {
    const full = openSync("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [commandPath, ...args], { stdio: ["ignore", full, "pipe"], encoding: "utf8" });
    closeSync(full);
    expect(stderr).toMatch(/^(Building .*\n)?Standard output takes nothing: ENOSPC: no space left on device, write\.\n$/);
    expect(status).toBe(1);
  },
);
