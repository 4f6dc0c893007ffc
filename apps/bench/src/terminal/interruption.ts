import { constants } from "node:os";

/** Ctrl-C, or the SIGTERM of whoever started the program. */
export interface Interruption extends Disposable {
  /** Aborted at the first one. */
  readonly signal: AbortSignal;
  /** 128 and the signal's number, as shells report it; undefined while nothing came. */
  exitCode(): number | undefined;
}

/** The first signal asks what runs to stop and tell what it has; a second one ends the process, as without us. */
export function watchForInterruption(): Interruption {
  const controller = new AbortController();
  const signals = ["SIGINT", "SIGTERM"] as const;
  let exitCode: number | undefined;
  const stop = (): void => {
    for (const name of signals) process.off(name, onSignal);
  };
  const onSignal = (name: NodeJS.Signals): void => {
    exitCode = 128 + constants.signals[name];
    stop();
    controller.abort();
  };
  for (const name of signals) process.on(name, onSignal);
  return { signal: controller.signal, exitCode: () => exitCode, [Symbol.dispose]: stop };
}
