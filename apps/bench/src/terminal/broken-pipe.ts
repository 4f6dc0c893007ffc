import { exitCodeOfBrokenPipe } from "./exit-codes.js";

/**
 * Ends the program where its output can't be written: quietly when whoever reads it has gone (`| head -1`), as the signal would that Node
 * ignores, and with a sentence where a disk is full.
 */
export function endOnBrokenPipe(streams: readonly NodeJS.WriteStream[] = [process.stdout, process.stderr]): void {
  for (const stream of streams) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(exitCodeOfBrokenPipe);
      // Where standard error itself takes nothing, the exit code alone says so.
      if (stream !== process.stderr) process.stderr.write(`Standard output takes nothing: ${error.message}.\n`);
      process.exit(1);
    });
  }
}
