import { formatValue } from "@dfccl/primitives";
import { mostRegisters } from "../limits.js";
import { PlanError } from "./errors.js";
import type { ActorPlan, TaskSpec } from "./plan.js";
import type { RegisterSpec } from "./register-spec.js";
import type { TaskId } from "./task-id.js";

/**
 * Checks a plan before anything starts.
 * @throws {PlanError} naming tasks and registers.
 * @pre readPlan() returned it.
 */
export function checkPlan({ tasks, registers }: ActorPlan): void {
  const taskOf = new Map<TaskId, TaskSpec>();
  for (const task of tasks) {
    if (taskOf.has(task.id)) throw duplicate(`Task id ${task.id}`, task.name);
    taskOf.set(task.id, task);
    checkRhythm(task);
  }
  const registerOf = new Map<number, RegisterSpec>();
  for (const spec of registers) {
    if (registerOf.has(spec.id)) throw duplicate(`Register id ${spec.id}`, String(spec.id));
    registerOf.set(spec.id, spec);
    checkRegister(spec, taskOf, registers);
  }
  checkTotal(registers);
  for (const task of tasks) {
    for (const id of [...task.consumes, ...task.produces]) {
      if (registerOf.has(id)) continue;
      throw new PlanError(
        "UNKNOWN_REGISTER",
        `Task ${task.name} uses register ${id}, which the plan doesn't have.`,
        "Add it to the plan's registers.",
        {
          task: task.name,
          register: id,
        },
      );
    }
  }
  checkAcyclic(tasks, registerOf, taskOf);
}

function checkTotal(registers: readonly RegisterSpec[]): void {
  const total = registers.reduce((sum, { count = 1 }) => sum + count, 0);
  if (total <= mostRegisters) return;
  const most = registers.reduce((largest, spec) => ((spec.count ?? 1) > (largest.count ?? 1) ? spec : largest));
  const what = `The counts of all registers make ${total}, ${most.count ?? 1} of them register ${most.id}'s.`;
  throw new PlanError("REGISTER_COUNT", what, `Give counts of ${mostRegisters} together at most.`, { total, register: most.id });
}

function duplicate(what: string, name: string): PlanError {
  return new PlanError("DUPLICATE_ID", `${what} is given twice.`, "Give each its own.", { name });
}

function checkRhythm({ name, rhythm, consumes, records }: TaskSpec): void {
  for (const [field, value] of Object.entries({ actsPerInput: 1, actsPerOutput: 1, ...rhythm })) {
    if (Number.isInteger(value) && value >= 1) continue;
    throw new PlanError("RHYTHM", `Task ${name} has ${field} ${formatValue(value)}.`, "Give a whole number from 1.", {
      task: name,
      field,
      value,
    });
  }
  if (consumes.length > 0 || (Number.isInteger(records) && (records ?? -1) >= 0)) return;
  throw new PlanError("RHYTHM", `Task ${name} has no inputs and doesn't say how often it acts.`, "Give it `records`.", { task: name });
}

function checkRegister(spec: RegisterSpec, taskOf: ReadonlyMap<TaskId, TaskSpec>, registers: readonly RegisterSpec[]): void {
  const { id, producer, consumers, count = 1, inPlaceOf } = spec;
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new PlanError(
      "REGISTER_COUNT",
      `Register ${id} has the count ${formatValue(count)}, so that its producer could never act.`,
      "Give a whole number from 1.",
      {
        register: id,
        count,
        producer: taskOf.get(producer)?.name,
      },
    );
  }
  const uses: readonly (readonly [TaskId, "produces" | "consumes"])[] = [
    [producer, "produces"],
    ...consumers.map((consumer) => [consumer, "consumes"] as const),
  ];
  for (const [taskId, how] of uses) {
    if (taskOf.get(taskId)?.[how].includes(id)) continue;
    const task = taskOf.get(taskId)?.name ?? `task ${taskId}`;
    throw new PlanError(
      "UNKNOWN_TASK",
      `Register ${id} says that ${task} ${how} it, and the task doesn't.`,
      "Name the same tasks on both sides.",
      {
        register: id,
        task,
      },
    );
  }
  if (inPlaceOf === undefined) return;
  const shown = registers.find((other) => other.id === inPlaceOf);
  if (shown?.consumers.includes(producer) !== true) {
    const what = `Register ${id} is in place of ${inPlaceOf}, which its producer doesn't consume.`;
    throw new PlanError("IN_PLACE", what, "Name one of the producer's inputs.", { register: id, inPlaceOf });
  }
}

function checkAcyclic(
  tasks: readonly TaskSpec[],
  registerOf: ReadonlyMap<number, RegisterSpec>,
  taskOf: ReadonlyMap<TaskId, TaskSpec>,
): void {
  const waitsFor = new Map<TaskId, number>(tasks.map(({ id, consumes }) => [id, consumes.length]));
  const ready = tasks.filter(({ consumes }) => consumes.length === 0);
  let sorted = 0;
  for (let task = ready.pop(); task !== undefined; task = ready.pop()) {
    sorted += 1;
    for (const consumer of task.produces.flatMap((id) => registerOf.get(id)?.consumers ?? [])) {
      const left = (waitsFor.get(consumer) ?? 0) - 1;
      waitsFor.set(consumer, left);
      const next = taskOf.get(consumer);
      if (left === 0 && next !== undefined) ready.push(next);
    }
  }
  if (sorted === tasks.length) return;
  const cycle = findCycle(
    tasks.filter(({ id }) => (waitsFor.get(id) ?? 0) > 0),
    registerOf,
    taskOf,
  );
  throw new PlanError("CYCLIC_GRAPH", `These tasks wait for each other in a circle: ${cycle.join(" → ")}.`, "Break one of these edges.", {
    cycle,
  });
}

/** Goes from what is stuck to what it waits for, until a task comes again. */
function findCycle(
  stuck: readonly TaskSpec[],
  registerOf: ReadonlyMap<number, RegisterSpec>,
  taskOf: ReadonlyMap<TaskId, TaskSpec>,
): string[] {
  const isStuck = new Set(stuck.map(({ id }) => id));
  const path: TaskSpec[] = [];
  let task = stuck[0];
  while (task !== undefined && !path.includes(task)) {
    path.push(task);
    const producers = task.consumes.map((id) => registerOf.get(id)?.producer).filter((id) => id !== undefined);
    const before = producers.find((id) => isStuck.has(id));
    task = before === undefined ? undefined : taskOf.get(before);
  }
  const circle = task === undefined ? path : path.slice(path.indexOf(task));
  const names = circle.map(({ name }) => name).reverse();
  return [...names, names[0] ?? ""];
}
