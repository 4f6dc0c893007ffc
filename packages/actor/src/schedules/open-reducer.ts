import { checkObject, checkOptions, InvalidArgumentError, type OptionNames } from "@dfccl/primitives";
import { type Clock, systemClock } from "../clock.js";
import type { Communicator } from "./communicator.js";
import { type CoordinatorOptions, CoordinatorReducer } from "./coordinator-reducer.js";
import { type GradientReducer, type GradientTensor, type ScheduleName, scheduleNames } from "./gradient-reducer.js";
import { Launcher } from "./launcher.js";
import { LearnedReducer } from "./learned-reducer.js";
import { NegotiatedReducer, type Negotiation } from "./negotiated-reducer.js";
import { PreemptiveReducer } from "./preemptive-reducer.js";
import { type StaticOptions, StaticReducer } from "./static-reducer.js";
import type { Transport } from "./transport.js";

export interface ReducerOptions {
  /** This rank's side of the library; see {@link coreCommunicator}. */
  readonly communicator: Communicator;
  /** All gradients of a step, the same list on each rank. */
  readonly tensors: readonly GradientTensor[];
  /** Default "preemptive". The same on each rank. */
  readonly schedule?: ScheduleName;
  /** Messages to the other ranks, for the schedules that need some: "coordinator", "learned", and "preemptive" with negotiation. */
  readonly transport?: Transport;
  /** For "preemptive": agree on each gradient before it is submitted. Default "none". */
  readonly negotiation?: Negotiation | "none";
  readonly static?: StaticOptions;
  readonly coordinator?: CoordinatorOptions;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

const optionNames: OptionNames<ReducerOptions> = {
  communicator: true,
  tensors: true,
  schedule: true,
  transport: true,
  negotiation: true,
  static: true,
  coordinator: true,
  clock: true,
};

/**
 * Opens one rank's reducer of gradients. Never waits for other ranks.
 * @throws {UnknownOptionError}; {InvalidArgumentError} for an unknown schedule, a wrong tensor, or a transport that is missing or of other ranks.
 */
export function openReducer(options: ReducerOptions): GradientReducer {
  checkOptions("options", options, optionNames, "an object such as { communicator, tensors }");
  const { communicator, tensors, schedule = "preemptive", negotiation = "none", clock = systemClock } = options;
  if (!scheduleNames.includes(schedule)) throw new InvalidArgumentError("schedule", schedule, `one of ${scheduleNames.join(", ")}`);
  if (!["none", "star", "chain"].includes(negotiation))
    throw new InvalidArgumentError("negotiation", negotiation, "one of none, star, chain");
  checkObject("communicator", communicator, "what coreCommunicator(rank) returns, or one like it");
  if (!Array.isArray(tensors) || tensors.length === 0) throw new InvalidArgumentError("tensors", tensors, "a list of at least one");
  for (const tensor of tensors) checkObject("tensors", tensor, "a list of { id, elements }");
  const needsTransport = schedule === "coordinator" || schedule === "learned" || negotiation !== "none";
  const transport = needsTransport ? checkedTransport(options) : undefined;
  const launcher = new Launcher(communicator, tensors);
  if (transport !== undefined) {
    if (schedule === "coordinator") return new CoordinatorReducer(launcher, tensors, transport, clock, options.coordinator ?? {});
    if (schedule === "learned") return new LearnedReducer(launcher, tensors, transport);
    if (schedule === "preemptive" && negotiation !== "none") return new NegotiatedReducer(launcher, transport, negotiation);
  }
  if (schedule === "static") return new StaticReducer(launcher, tensors, options.static ?? {});
  return new PreemptiveReducer(launcher);
}

function checkedTransport({ communicator, transport }: ReducerOptions): Transport {
  if (transport === undefined) {
    throw new InvalidArgumentError("transport", transport, "messages to the other ranks, such as inProcessTransports(size)[rank]");
  }
  if (transport.rank !== communicator.rank || transport.size !== communicator.size) {
    const given = `rank ${transport.rank} of ${transport.size}`;
    throw new InvalidArgumentError("transport", given, `rank ${communicator.rank} of ${communicator.size}, as the communicator is`);
  }
  return transport;
}
