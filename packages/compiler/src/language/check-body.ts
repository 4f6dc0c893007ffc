import { InvalidArgumentError } from "@dfccl/primitives";

const expected = "a function such as ({ chunk }) => { … }, not async: it says at once which chunk goes where";

/**
 * Refuses what can't be a body. What an async function or a generator says after its first pause would come too late.
 * @throws {InvalidArgumentError}
 */
export function checkBody(argument: string, body: unknown): void {
  if (typeof body !== "function" || !/^\[object Function]$/.test(Object.prototype.toString.call(body))) {
    throw new InvalidArgumentError(argument, body, expected);
  }
}

/** Runs a body. @throws {InvalidArgumentError} where it returns a promise, as what calls an async function does. */
export function runBody(argument: string, run: () => unknown): void {
  const result = run();
  if (typeof (result as PromiseLike<unknown> | null | undefined)?.then !== "function") return;
  // Whatever comes of it, nobody waits for it.
  Promise.resolve(result).catch(() => undefined);
  throw new InvalidArgumentError(`what ${argument} returned`, result, expected.replace("a function", "nothing, from a function"));
}
