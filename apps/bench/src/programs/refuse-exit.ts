import { err } from "../terminal/colors.js";
import { fromHere } from "../terminal/from-here.js";
import { wrapOnTerminal } from "../terminal/wrap.js";
import { ProgramFileError } from "./program-file-error.js";

const usageError = 2;

/**
 * Does what runs a file's own code. Where that ends this process, nothing can be thrown any more: it is said, and the exit code, which may
 * be 0 as after a proof, is that of a file without a program.
 */
export async function refuseExit<T>(path: string, work: () => Promise<T>): Promise<T> {
  const onExit = (): void => {
    const { message } = new ProgramFileError(
      path,
      "it ended the process while it was loaded",
      "Leave process.exit() out of it, and await only what comes.",
    );
    process.stderr.write(`${err.red(wrapOnTerminal(fromHere(message)))}\n`);
    process.exitCode = usageError;
  };
  process.prependOnceListener("exit", onExit);
  try {
    return await work();
  } finally {
    process.off("exit", onExit);
  }
}
