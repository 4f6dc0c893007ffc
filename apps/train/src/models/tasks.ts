import { ModelError } from "../errors.js";
import { gpt } from "./gpt.js";
import { mnist } from "./mnist.js";
import type { Task } from "./task.js";

const tasks: Readonly<Record<string, Task>> = { mnist, gpt };

/** What can be trained. */
export const taskNames: readonly string[] = Object.keys(tasks);

/** @throws {ModelError} naming those that there are. */
export function taskByName(name: string): Task {
  const task = Object.hasOwn(tasks, name) ? tasks[name] : undefined;
  if (task === undefined) throw new ModelError(name, taskNames);
  return task;
}
