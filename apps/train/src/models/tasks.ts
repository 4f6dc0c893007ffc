import { ModelError } from "../errors.js";
import { mnist } from "./mnist.js";
import type { Task } from "./task.js";

const tasks: Readonly<Record<string, Task>> = { mnist };

/** What can be trained. */
export const taskNames: readonly string[] = Object.keys(tasks);

/** @throws {ModelError} naming those that there are. */
export function taskByName(name: string): Task {
  const task = tasks[name];
  if (task === undefined) throw new ModelError(name, taskNames);
  return task;
}
