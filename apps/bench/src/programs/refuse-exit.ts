import { err } from "../terminal/colors.js";
import { fromHere } from "../terminal/from-here.js";
import { wrapOnTerminal } from "../terminal/wrap.js";
import { ProgramFileError } from "./program-file-error.js";

const usageError = 2;

const events = ["exit", "beforeExit"] as const;
/** Of files that are loaded at the same time. */
const guards = new Set<unknown>();

const listenersNow = (): ReadonlySet<unknown> => new Set(events.flatMap((event) => process.listeners(event as "exit")));

/** Of the file's own listeners none says in the end that all was well. */
function dropListeners(before: ReadonlySet<unknown>): void {
  for (const event of events) {
    for (const listener of process.listeners(event as "exit")) {
      if (!before.has(listener) && !guards.has(listener)) process.off(event, listener);
    }
  }
}

/**
 * Does what runs a file's own code. Where that ends this process, nothing can be thrown any more: it is said, and the exit code, which may
 * be 0 as after a proof, is that of a file without a program, whatever the file's own listeners make of it.
 */
export async function refuseExit<T>(path: string, work: () => Promise<T>): Promise<T> {
  const onExit = (): void => {
    const { message } = new ProgramFileError(
      path,
      "it ended the process while it was loaded",
      "Leave process.exit() out of it, and await only what comes.",
    );
    process.stderr.write(`${err.red(wrapOnTerminal(fromHere(message)))}\n`);
    process.exit(usageError); // within its own event: without those who listen behind this one
  };
  const before = listenersNow();
  guards.add(onExit);
  process.prependListener("exit", onExit);
  try {
    return await work();
  } finally {
    process.off("exit", onExit);
    guards.delete(onExit);
    dropListeners(before);
  }
}
