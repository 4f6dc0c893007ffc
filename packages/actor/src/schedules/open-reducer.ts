import { checkInteger, checkOptions, checkText, InvalidArgumentError, type OptionNames, readArgument } from "@dfccl/primitives";
import { type Clock, systemClock } from "../clock.js";
import { checkMethods, readFields, readList } from "../read-fields.js";
import type { Communicator } from "./communicator.js";
import { type CoordinatorOptions, CoordinatorReducer, readCoordinatorOptions } from "./coordinator-reducer.js";
import { type GradientReducer, type GradientTensor, type ScheduleName, scheduleNames } from "./gradient-reducer.js";
import { Launcher } from "./launcher.js";
import { LearnedReducer } from "./learned-reducer.js";
import { NegotiatedReducer, type Negotiation } from "./negotiated-reducer.js";
import { PreemptiveReducer } from "./preemptive-reducer.js";
import { readStaticOptions, type StaticOptions, StaticReducer } from "./static-reducer.js";
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
  const example = "an object such as { communicator, tensors }";
  checkOptions("options", options, optionNames, example);
  const given = readFields("options", options, optionNames, example);
  const { communicator, schedule = "preemptive", negotiation = "none", clock = systemClock } = given;
  if (!scheduleNames.includes(schedule)) throw new InvalidArgumentError("schedule", schedule, `one of ${scheduleNames.join(", ")}`);
  if (!["none", "star", "chain"].includes(negotiation))
    throw new InvalidArgumentError("negotiation", negotiation, "one of none, star, chain");
  checkMethods("communicator", communicator, ["register", "submit", "allocate"], "what coreCommunicator(rank) returns, or one like it");
  checkPlace("communicator", communicator);
  checkMethods("clock", clock, ["now", "after"], "a clock: now() returns milliseconds, after() calls back");
  const tensors = readTensors(given.tensors);
  const forStatic = readStaticOptions(given.static ?? {});
  const forCoordinator = readCoordinatorOptions(given.coordinator ?? {});
  const needsTransport = schedule === "coordinator" || schedule === "learned" || negotiation !== "none";
  const transport = needsTransport ? checkedTransport(given) : undefined;
  const launcher = new Launcher(communicator, tensors);
  if (transport !== undefined) {
    if (schedule === "coordinator") return new CoordinatorReducer(launcher, tensors, transport, clock, forCoordinator);
    if (schedule === "learned") return new LearnedReducer(launcher, tensors, transport);
    if (schedule === "preemptive" && negotiation !== "none") return new NegotiatedReducer(launcher, transport, negotiation);
  }
  if (schedule === "static") return new StaticReducer(launcher, tensors, forStatic);
  return new PreemptiveReducer(launcher);
}

function readTensors(given: readonly GradientTensor[]): readonly GradientTensor[] {
  const tensors = readList("tensors", given, "a list of at least one").map((one, index) => {
    const name = `tensors[${index}]`;
    const tensor = readFields(name, one, { id: true, name: true, elements: true, priority: true }, "a tensor: { id, elements }");
    if (tensor.name !== undefined) checkText(`${name}.name`, tensor.name, "a name");
    return tensor;
  });
  if (tensors.length === 0) throw new InvalidArgumentError("tensors", given, "a list of at least one");
  return tensors;
}

/** @throws {InvalidArgumentError} for what doesn't know which rank of how many it is. */
function checkPlace(
  argument: string,
  one: { readonly rank: number; readonly size: number },
): { readonly rank: number; readonly size: number } {
  const place = readArgument(argument, "one that knows its rank and how many there are", () => ({ rank: one.rank, size: one.size }));
  checkInteger(`${argument}.size`, place.size, 1);
  checkInteger(`${argument}.rank`, place.rank, 0, place.size - 1);
  return place;
}

function checkedTransport({ communicator, transport }: ReducerOptions): Transport {
  const expected = "messages to the other ranks, such as inProcessTransports(size)[rank]";
  if (transport === undefined) throw new InvalidArgumentError("transport", transport, expected);
  checkMethods("transport", transport, ["send", "listen", "close"], expected);
  const [own, other] = [checkPlace("communicator", communicator), checkPlace("transport", transport)];
  if (other.rank !== own.rank || other.size !== own.size) {
    const given = `rank ${other.rank} of ${other.size}`;
    throw new InvalidArgumentError("transport", given, `rank ${own.rank} of ${own.size}, as the communicator is`);
  }
  return transport;
}
