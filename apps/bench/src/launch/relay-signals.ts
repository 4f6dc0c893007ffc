import { constants } from "node:os";

// The terminal was closed, too: the ranks would go on without anybody to end them.
const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface SignalRelay extends Disposable {
  /** 128 and the first signal's number, as shells report it; undefined while none came. */
  exitCode(): number | undefined;
}

/** Hands on what would end this process. */
export function relaySignals(onSignal: (signal: NodeJS.Signals) => void): SignalRelay {
  let first: number | undefined;
  const take = (signal: NodeJS.Signals): void => {
    first ??= 128 + constants.signals[signal];
    onSignal(signal);
  };
  for (const signal of endingSignals) process.on(signal, take);
  return {
    exitCode: () => first,
    [Symbol.dispose]: () => {
      for (const signal of endingSignals) process.off(signal, take);
    },
  };
}
