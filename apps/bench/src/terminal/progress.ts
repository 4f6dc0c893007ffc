import { SingleBar } from "cli-progress";
import pc from "picocolors";

export interface Progress {
  update(done: number, note?: string): void;
  stop(): void;
}

/** A bar on a terminal; in a pipe, a plain line at every tenth. Both on standard error, which leaves the output clean. */
export function startProgress(title: string, total: number, stream: NodeJS.WriteStream = process.stderr): Progress {
  return stream.isTTY ? barProgress(title, total, stream) : lineProgress(title, total, stream);
}

export const noProgress: Progress = { update: () => undefined, stop: () => undefined };

function barProgress(title: string, total: number, stream: NodeJS.WriteStream): Progress {
  const bar = new SingleBar({
    stream,
    hideCursor: true,
    clearOnComplete: true,
    barsize: 32,
    barCompleteChar: "█",
    barIncompleteChar: "░",
    format: `${title} ${pc.cyan("{bar}")} {value}/{total} {note}`,
  });
  bar.start(total, 0, { note: "" });
  return { update: (done, note = "") => bar.update(done, { note }), stop: () => bar.stop() };
}

function lineProgress(title: string, total: number, stream: NodeJS.WriteStream): Progress {
  let tenth = 0;
  return {
    update(done, note = "") {
      const now = Math.floor((10 * done) / total);
      if (now === tenth) return;
      tenth = now;
      stream.write(`${title} ${done}/${total} ${note}\n`);
    },
    stop: () => undefined,
  };
}
