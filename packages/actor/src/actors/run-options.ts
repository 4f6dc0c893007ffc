import { checkFunction, checkOptions, DfcclError, formatValue, type OptionNames } from "@dfccl/primitives";
import { type Clock, systemClock } from "../clock.js";
import { checkMethods, readFields } from "../read-fields.js";
import { type PickActor, pickFirst } from "./actor-thread.js";
import { type Bus, microtaskBus } from "./bus.js";
import { PlanError } from "./errors.js";
import type { TaskId } from "./task-id.js";

/** One act of a task, for timelines. */
export interface ActTrace {
  readonly task: string;
  readonly id: TaskId;
  readonly act: number;
  /** Milliseconds of the clock. */
  readonly beganAt: number;
  readonly endedAt: number;
}

export interface RunActorsOptions {
  /** Default: the machine's. Actors themselves wait for no time; it stamps the trace. */
  readonly clock?: Clock;
  /** Default: in order, as microtasks. */
  readonly bus?: Bus;
  /** Which actor of a thread goes first; default the plan's earliest. */
  readonly pick?: PickActor;
  /** Memory of the registers; default a new array. */
  readonly allocate?: (elements: number) => Float32Array;
  readonly onAct?: (trace: ActTrace) => void;
  /** Tests alone: hand messages between ranks on as they come. */
  readonly isOrderKept?: boolean;
}

const optionNames: OptionNames<RunActorsOptions> = { clock: true, bus: true, pick: true, allocate: true, onAct: true, isOrderKept: true };

/** Options with what is left out put in; `onAct` alone may stay away. */
export type CompleteRunOptions = Required<Omit<RunActorsOptions, "onAct">> & Pick<RunActorsOptions, "onAct">;

/** @throws {InvalidArgumentError}, UnknownOptionError */
export function completeRunOptions(options: RunActorsOptions): CompleteRunOptions {
  const example = "an object such as { onAct: (act) => {} }";
  checkOptions("options", options, optionNames, example);
  const given = readFields("options", options, optionNames, example);
  const { clock = systemClock, bus = microtaskBus(), pick = pickFirst, allocate = allocateArray, isOrderKept = true, onAct } = given;
  checkMethods("clock", clock, ["now"], "a clock, whose now() returns milliseconds");
  checkMethods("bus", bus, ["send"], "a bus, whose send() delivers a message");
  for (const [name, call] of Object.entries({ pick, allocate, onAct })) if (call !== undefined) checkFunction(name, call, "a function");
  return { clock, bus, pick, allocate: checked(allocate), isOrderKept, ...(onAct === undefined ? {} : { onAct }) };
}

const allocateArray = (elements: number): Float32Array => new Float32Array(elements);

/** What the caller's function returns is looked at, and a lack of memory said. */
function checked(allocate: (elements: number) => Float32Array): (elements: number) => Float32Array {
  return (elements) => {
    const remedy = "Give registers fewer elements, or an `allocate` that returns a Float32Array of as many.";
    try {
      const memory = allocate(elements);
      if (memory instanceof Float32Array && memory.length >= elements) return memory;
      const what = `A register of ${elements} elements got ${formatValue(memory)} as its memory.`;
      throw new PlanError("REGISTER_MEMORY", what, remedy, { elements });
    } catch (cause) {
      if (cause instanceof DfcclError) throw cause;
      throw new PlanError("REGISTER_MEMORY", `There is no memory for a register of ${elements} elements.`, remedy, { elements }, cause);
    }
  };
}
