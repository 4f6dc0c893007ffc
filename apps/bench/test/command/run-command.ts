import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The built command, as it ships. */
export const commandPath = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Default: this process's. */
  readonly cwd?: string;
  /** The command's file instead of {@link commandPath}. */
  readonly command?: string;
  /** Does something to the process once it has written this, to either stream. */
  readonly when?: readonly [text: string | RegExp, act: (child: ChildProcessWithoutNullStreams) => void];
}

/** Runs `dfccl` in a process of its own, in pipes. */
export function runCommand(args: readonly string[], options: CommandOptions = {}): Promise<Finished> {
  const env = { ...process.env, ...options.env };
  const child = spawn(process.execPath, [options.command ?? commandPath, ...args], { env, cwd: options.cwd });
  let [stdout, stderr] = ["", ""];
  let { when } = options;
  const look = (): void => {
    if (!when) return;
    const [text, act] = when;
    if (typeof text === "string" ? !(stdout + stderr).includes(text) : !text.test(stdout + stderr)) return;
    when = undefined;
    act(child);
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    look();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    look();
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

/** ANSI escape sequences begin with this character. */
export const escapeCharacter = "\u001b";
