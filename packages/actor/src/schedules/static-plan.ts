import { checkInteger, checkText, type OptionNames } from "@dfccl/primitives";
import { PlanError } from "../actors/errors.js";
import { readFields, readList, readWholeNumbers } from "../read-fields.js";
import { checkBytes, cutIntoGroups, type MergeLimits, readLimits } from "./merge-groups.js";

/** A task of the graph that is sorted. */
export interface SortedTask {
  readonly id: number;
  /** Tasks whose results it takes. */
  readonly inputs: readonly number[];
  /** Set where it is a collective. */
  readonly collective?: {
    readonly bytes: number;
    /** What must be equal to be launched as one: device set, and kind of collective. */
    readonly kind: string;
  };
}

export interface PlacedCollective {
  readonly id: number;
  readonly bytes: number;
  /** Wave in which its task was peeled. */
  readonly wave: number;
  /** Most collectives on a path before it. */
  readonly depth: number;
  readonly kind: string;
}

/** Collectives in their one order, and the groups that are launched as one. */
export interface StaticPlan {
  readonly order: readonly PlacedCollective[];
  readonly groups: readonly (readonly PlacedCollective[])[];
}

/**
 * Static sorting, as OneFlow's compiler does it: the graph is peeled in waves, each of the tasks whose inputs are all peeled; that
 * orders the collectives. Neighbours of one depth and kind are merged within the limits: none of them waits for another.
 * @throws {PlanError} CYCLIC_GRAPH where a wave is empty; InvalidArgumentError, UnknownOptionError.
 */
export function staticPlan(tasks: readonly SortedTask[], limits: MergeLimits = {}): StaticPlan {
  const read = readLimits("limits", limits);
  const depthAfter = new Map<number, number>();
  const found: PlacedCollective[] = [];
  let left = readList("tasks", tasks, "a list of tasks, each { id, inputs }").map((task, index) => readTask(`tasks[${index}]`, task));
  for (let wave = 0; left.length > 0; wave += 1) {
    const peeled = left.filter(({ inputs }) => inputs.every((input) => depthAfter.has(input)));
    if (peeled.length === 0) {
      const cycle = left.map(({ id }) => id);
      throw new PlanError(
        "CYCLIC_GRAPH",
        `Tasks ${cycle.join(", ")} wait for each other, or for tasks that aren't there.`,
        "Break the circle.",
        { cycle },
      );
    }
    const depths = peeled.map(({ inputs }) => inputs.reduce((most, input) => Math.max(most, depthAfter.get(input) ?? 0), 0));
    peeled.forEach(({ id, collective }, index) => {
      const depth = depths[index] ?? 0;
      depthAfter.set(id, depth + (collective === undefined ? 0 : 1));
      if (collective !== undefined) found.push({ id, wave, depth, ...collective });
    });
    const done = new Set(peeled);
    left = left.filter((task) => !done.has(task));
  }
  // Depths first: what is merged must not be torn apart by what only came in an earlier wave.
  const order = found.sort((a, b) => a.depth - b.depth || a.wave - b.wave || a.id - b.id);
  return { order, groups: cutIntoGroups(order, read, ({ depth, kind }) => `${depth} ${kind}`) };
}

const taskNames: OptionNames<SortedTask> = { id: true, inputs: true, collective: true };

function readTask(argument: string, given: SortedTask): SortedTask {
  const { id, inputs, collective } = readFields(argument, given, taskNames, "a task: { id, inputs }");
  checkInteger(`${argument}.id`, id, 0);
  const task = { id, inputs: readWholeNumbers(`${argument}.inputs`, inputs, "a list of tasks' ids") };
  if (collective === undefined) return task;
  const name = `${argument}.collective`;
  const { bytes, kind } = readFields(name, collective, { bytes: true, kind: true }, 'an object such as { bytes: 4, kind: "all-reduce" }');
  checkBytes(`${name}.bytes`, bytes);
  checkText(`${name}.kind`, kind, "a text that is equal for what may be launched as one");
  return { ...task, collective: { bytes, kind } };
}
