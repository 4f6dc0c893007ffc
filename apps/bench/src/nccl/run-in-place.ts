import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { relaySignals } from "../launch/relay-signals.js";
import { loaderVariables } from "./loader-variables.js";
import { NcclError } from "./nccl-error.js";

/**
 * Runs a program that finds the library before any other of its name, and so does all that it starts.
 * @returns its exit code; 128 and the signal's number where one ended it.
 * @throws {NcclError} NO_PROGRAM, NO_SUCH_LOADER
 */
export function runInPlaceOfNccl(library: string, name: string, args: readonly string[]): Promise<number> {
  return runProgram(name, args, loaderVariables(library));
}

/** Runs a program with these variables beside its environment's; returns and throws as {@link runInPlaceOfNccl} does. */
export async function runProgram(name: string, args: readonly string[], variables: Readonly<Record<string, string>>): Promise<number> {
  try {
    // What is too long for the system, it throws itself.
    const child = spawn(name, args, { stdio: "inherit", env: { ...process.env, ...variables } });
    using _relay = relaySignals((signal) => child.kill(signal));
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "it isn't there" : code === "ENAMETOOLONG" || code === "E2BIG" ? "that is too long" : String(code);
    throw new NcclError("NO_PROGRAM", `${shortened(name)} can't be started: ${why}.`, "Type its path, or put its folder into PATH.", {
      name,
    });
  }
}

function shortened(name: string): string {
  const most = 200;
  return name.length > most ? `${name.slice(0, most)}…` : name;
}
