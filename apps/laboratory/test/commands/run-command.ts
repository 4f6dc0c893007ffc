import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { clone } from "../../src/clone.js";
import type { FakeClone } from "./fake-clone.js";

const builtCommand = join(clone, "apps", "laboratory", "dist", "cli.js");

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Does something to the process once it has written this, to either stream. */
export type When = readonly [text: string, act: (child: ChildProcessWithoutNullStreams) => void];

/** Runs the laboratory's command in a process of its own, in pipes. @param fake - where it is another clone's. */
export function runCommand(args: readonly string[], fake?: FakeClone, when?: When): Promise<Finished> {
  const env = { ...process.env, ...(fake === undefined ? {} : { PATH: fake.path }) };
  const child = spawn(process.execPath, [fake?.command ?? builtCommand, ...args], { env });
  const written = { stdout: "", stderr: "" };
  let next = when;
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      written[stream] += text;
      if (next === undefined || !(written.stdout + written.stderr).includes(next[0])) return;
      const [, act] = next;
      next = undefined;
      act(child);
    });
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...written }));
  });
}
