import { constants } from "node:os";

/** Ends the program quietly when whoever reads its output has gone (`| head -1`), as the signal would that Node ignores. */
export function endOnBrokenPipe(streams: readonly NodeJS.WriteStream[] = [process.stdout, process.stderr]): void {
  for (const stream of streams) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      process.exit(128 + constants.signals.SIGPIPE);
    });
  }
}
