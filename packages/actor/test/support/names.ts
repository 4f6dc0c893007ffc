import { encodeTaskId, type TaskId } from "../../src/index.js";

/** Task ids of one rank and stream by number. */
export function taskId(task: number, rank = 0, stream = 0): TaskId {
  return encodeTaskId({ rank, stream, task });
}
