import { InvalidArgumentError, readArgument } from "@dfccl/primitives";
import { ClosedError } from "../errors.js";
import type { Calls } from "./calls.js";
import type { BatchedCalls, CallOptions, InGroup, Received } from "./group-api.js";
import type { Call } from "./matched-run.js";

/** Of each method, which argument holds the options. */
const optionsAt = {
  allReduce: 1,
  reduce: 1,
  broadcast: 1,
  allGather: 2,
  reduceScatter: 2,
  allToAll: 2,
  gather: 2,
  scatter: 2,
  barrier: 0,
  send: 2,
  recv: 2,
  recvAny: 1,
  allToAllV: 4,
  allGatherV: 3,
  reduceScatterV: 3,
  gatherV: 3,
  scatterV: 3,
} as const satisfies Record<keyof BatchedCalls, number>;

/**
 * What `describe` asks for.
 * @param callsIn - of the group that a call's options name.
 * @throws {InvalidArgumentError}, {@link BufferError}, and whatever `describe` throws.
 */
export function collectCalls(describe: (calls: BatchedCalls) => void, callsIn: (options: InGroup | undefined) => Calls): readonly Call[] {
  if (typeof describe !== "function") throw new InvalidArgumentError("describe", describe, "a function such as (calls) => {}");
  const collected: Call[] = [];
  let isOpen = true;
  const keep =
    (name: keyof BatchedCalls) =>
    (...args: readonly unknown[]): Received | undefined => {
      if (!isOpen) throw new ClosedError("The batch");
      const options = args[optionsAt[name]] as (CallOptions & InGroup) | undefined;
      const its = callsIn(options);
      const method = its[name] as (this: Calls, ...args: readonly unknown[]) => Call;
      const call = method.apply(its, [...args]);
      if (call.timeoutMs !== undefined)
        throw new InvalidArgumentError("timeoutMs", call.timeoutMs, "absent from a call in a batch, whose own option it is");
      collected.push(call);
      return call.runs[0]?.received;
    };
  const names = Object.keys(optionsAt) as (keyof BatchedCalls)[];
  const calls = Object.fromEntries(names.map((name) => [name, keep(name)])) as unknown as BatchedCalls;
  try {
    const result: unknown = describe(calls);
    if (isThenable(result)) {
      result.then(undefined, () => {}); // What it fails with, nobody would hear.
      throw new InvalidArgumentError("describe", describe, "a function that names all calls before it returns, and is not async");
    }
  } finally {
    isOpen = false;
  }
  return collected;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof readArgument("describe", "a function", () => (value as PromiseLike<unknown>).then) === "function"
  );
}
