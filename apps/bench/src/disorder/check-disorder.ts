import {
  checkInteger,
  checkMethod,
  checkNumber,
  checkObject,
  checkOptions,
  InvalidArgumentError,
  type OptionNames,
} from "@dfccl/primitives";
import { readWorkload } from "../workloads/read-workload.js";
import type { DisorderOptions, RunContext } from "./disorder-options.js";
import { orderKinds } from "./submission-order.js";

const example = 'an object such as { workload: loadWorkload("resnet50"), ranks: 2, iterations: 1, order: "random", sync: 0.1, seed: 1 }';
const optionNames: OptionNames<DisorderOptions> = {
  ...{ workload: true, ranks: true, iterations: true, order: true, sync: true, seed: true },
  ...{ policy: true, backend: true },
};
const contextNames: OptionNames<RunContext> = { progress: true, signal: true, buffers: true, world: true };

/**
 * What a run was asked to do. Policy and backend are openWorld()'s to check.
 * @returns a copy, workload included.
 * @throws {InvalidArgumentError}, {@link UnknownOptionError}
 */
export function readDisorderOptions(given: DisorderOptions): DisorderOptions {
  checkOptions("options", given, optionNames, example);
  const options = { ...given, workload: readWorkload("workload", given.workload) };
  checkInteger("ranks", options.ranks, 1);
  checkInteger("iterations", options.iterations, 1, 1_000_000);
  checkInteger("seed", options.seed, 0, 2 ** 32 - 1);
  if (!orderKinds.includes(options.order)) throw new InvalidArgumentError("order", options.order, `one of ${orderKinds.join(", ")}`);
  checkNumber("sync", options.sync);
  if (!(options.sync >= 0 && options.sync <= 1)) throw new InvalidArgumentError("sync", options.sync, "a probability from 0 to 1");
  return options;
}

/** @throws {InvalidArgumentError}, {@link UnknownOptionError} */
export function checkRunContext(context: RunContext): void {
  checkOptions("context", context, contextNames, "an object such as { signal }");
  const { progress, signal, world, buffers } = context;
  if (progress !== undefined) checkMethod("context.progress", progress, "update", "an object such as { update, stop }");
  if (signal !== undefined) checkMethod("context.signal", signal, "addEventListener", "the signal of an AbortController");
  if (world !== undefined) checkObject("context.world", world, "what openWorld() or joinWorld() returns");
  if (buffers !== undefined) checkObject("context.buffers", buffers, "those of an earlier run");
}
