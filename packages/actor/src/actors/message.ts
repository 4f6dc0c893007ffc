import type { Register } from "./register.js";
import { rankBits, type TaskId } from "./task-id.js";

/**
 * What actors tell each other.
 * - `data`: to a consumer, a register is filled.
 * - `acknowledgement`: to the producer, a consumer has read it.
 * - `end`: to a consumer, no more comes through these registers.
 * - `command`: from the system; `start` lets a task act, `stop` ends a source's record early.
 */
export type ActorMessage =
  | { readonly kind: "data"; readonly from: TaskId; readonly to: TaskId; readonly register: Register }
  | { readonly kind: "acknowledgement"; readonly from: TaskId; readonly to: TaskId; readonly register: Register }
  | { readonly kind: "end"; readonly from: TaskId; readonly to: TaskId; readonly registerId: number }
  | { readonly kind: "command"; readonly to: TaskId; readonly command: "start" | "stop" };

/** Whether it leaves its rank. */
export function crossesRanks(message: ActorMessage): boolean {
  return message.kind !== "command" && rankBits(message.from) !== rankBits(message.to);
}
