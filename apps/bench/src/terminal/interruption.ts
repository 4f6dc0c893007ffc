import { constants } from "node:os";
import { undoNow } from "./undo-at-exit.js";

/** Ctrl-C, the SIGTERM of whoever started the program, or its terminal being closed. */
export interface Interruption extends Disposable {
  /** Aborted at the first one. */
  readonly signal: AbortSignal;
  /** 128 and the signal's number, as shells report it; undefined while nothing came. */
  exitCode(): number | undefined;
}

// npm passes a Ctrl-C on that the terminal has already sent to everybody: what comes at once is the same one.
const sameMs = 500;

/** The first signal asks what runs to stop and tell what it has; a later one ends the process, as without us. */
export function watchForInterruption(): Interruption {
  const controller = new AbortController();
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  let first: { readonly exitCode: number; readonly at: number } | undefined;
  const stop = (): void => {
    for (const name of signals) process.off(name, onSignal);
  };
  const onSignal = (name: NodeJS.Signals): void => {
    if (first === undefined) {
      first = { exitCode: 128 + constants.signals[name], at: performance.now() };
      controller.abort();
    } else if (performance.now() - first.at > sameMs) {
      stop();
      undoNow();
      process.kill(process.pid, name);
    }
  };
  for (const name of signals) process.on(name, onSignal);
  return { signal: controller.signal, exitCode: () => first?.exitCode, [Symbol.dispose]: stop };
}
