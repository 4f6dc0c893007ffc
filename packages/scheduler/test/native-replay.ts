import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const nativeRoot = fileURLToPath(new URL("../../../native/", import.meta.url));
const schedulingHeaders = "scheduling";

/** One change to one header, which a test expects to be noticed. `from` must occur exactly once. */
export interface Mutation {
  readonly name: string;
  readonly header: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Builds native/test/scheduling/replay.cpp with the engine's headers, or with a mutated copy of them, in a folder that goes with the
 * test. Returns the executable.
 */
export function buildReplay(mutation?: Mutation): string {
  const directory = mkdtempSync(join(tmpdir(), "dfccl-replay-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const include = join(directory, "include");
  mkdirSync(include, { recursive: true });
  cpSync(join(nativeRoot, "src", schedulingHeaders), join(include, schedulingHeaders), { recursive: true });
  if (mutation !== undefined) mutate(join(include, schedulingHeaders, mutation.header), mutation);
  const executable = join(directory, "replay");
  const source = join(nativeRoot, "test/scheduling/replay.cpp");
  // The copy comes first, so that what it holds is what is built.
  const folders = [`-I${include}`, `-I${join(nativeRoot, "src")}`];
  execFileSync(process.env.CXX ?? "g++", ["-std=c++20", "-O1", ...folders, source, "-o", executable], { timeout: 120_000 });
  return executable;
}

function mutate(path: string, { name, from, to }: Mutation): void {
  const parts = readFileSync(path, "utf8").split(from);
  if (parts.length !== 2) throw new Error(`mutation "${name}": "${from}" occurs ${parts.length - 1} times in ${path}`);
  writeFileSync(path, parts.join(to));
}

/** Answers of the native policies, one a command. */
export function runReplay(executable: string, commands: readonly string[]): string[] {
  const output = execFileSync(executable, {
    input: `${commands.join("\n")}\n`,
    encoding: "utf8",
    maxBuffer: 1 << 30,
    timeout: 120_000,
  });
  return output.trimEnd().split("\n");
}
