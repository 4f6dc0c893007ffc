import { SingleBar } from "cli-progress";
import { err, wantsColors } from "./colors.js";
import { undoAtExit } from "./undo-at-exit.js";

export interface Progress {
  /** @param done - out of the total, never less than before. */
  update(done: number, note?: string): void;
  stop(): void;
}

export const noProgress: Progress = { update: () => undefined, stop: () => undefined };

/** A bar on a terminal; in a pipe, a line at the beginning and at every tenth. Both on standard error: the output stays clean. */
export function startProgress(title: string, total: number, stream: NodeJS.WriteStream = process.stderr): Progress {
  return stream.isTTY && process.env.TERM !== "dumb" ? barProgress(title, total, stream) : lineProgress(title, total, stream);
}

/** Shows progress for as long as `work` takes, however it ends. */
export async function withProgress<T>(title: string, total: number, work: (progress: Progress) => Promise<T>): Promise<T> {
  const progress = startProgress(title, total);
  try {
    return await work(progress);
  } finally {
    progress.stop();
  }
}

/** The same on a terminal only, for what is short as a rule: a pipe has nobody who waits. */
export function withTerminalProgress<T>(title: string, total: number, work: (progress: Progress) => Promise<T>): Promise<T> {
  return process.stderr.isTTY ? withProgress(title, total, work) : work(noProgress);
}

const noteWidth = 36;

function barProgress(title: string, total: number, stream: NodeJS.WriteStream): Progress {
  const room = (stream.columns || 80) - title.length - noteWidth - 10;
  const blue = wantsColors(stream) ? err.cyan : String;
  const bar = new SingleBar({
    stream,
    hideCursor: true,
    clearOnComplete: true,
    // Ctrl-C is the caller's, who tells what was done until then.
    gracefulExit: false,
    barsize: Math.min(Math.max(room, 10), 40),
    barCompleteChar: "█",
    barIncompleteChar: "░",
    format: `${title} ${blue("{bar}")} {percentage}%  {note}`,
  });
  bar.start(total, 0, { note: "" });
  // Also where the process ends in the midst: the terminal would stay without its cursor.
  const shown = undoAtExit(() => bar.stop());
  return {
    update: (done, note = "") => bar.update(done, { note: note.slice(0, noteWidth) }),
    stop: () => shown[Symbol.dispose](),
  };
}

function lineProgress(title: string, total: number, stream: NodeJS.WriteStream): Progress {
  let tenth = -1;
  return {
    update(done, note = "") {
      const now = Math.floor((10 * done) / total);
      if (now === tenth) return;
      tenth = now;
      stream.write(`${`${title} ${Math.floor((100 * done) / total)}%  ${note}`.trimEnd()}\n`);
    },
    stop: () => undefined,
  };
}
