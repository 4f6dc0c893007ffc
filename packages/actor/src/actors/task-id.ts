import { checkInteger, InvalidArgumentError } from "@dfccl/primitives";
import { readFields } from "../read-fields.js";

/** Names a task, its actor, and the thread that it runs on: 64 bits, see {@link encodeTaskId}. */
export type TaskId = bigint;

export interface TaskPlace {
  /** 16 bits. */
  readonly rank: number;
  /** Kind of device, 5 bits; 0 is the CPU. */
  readonly deviceType?: number;
  /** 7 bits. */
  readonly deviceIndex?: number;
  /** Which of the device's streams, 15 bits: tasks of one stream share a thread. */
  readonly stream?: number;
  /** Number of the task on its stream, 21 bits. */
  readonly task: number;
}

// From the lowest bits up.
const fields = [
  ["task", 21],
  ["stream", 15],
  ["deviceIndex", 7],
  ["deviceType", 5],
  ["rank", 16],
] as const;
const names = { rank: true, deviceType: true, deviceIndex: true, stream: true, task: true } as const;
const largest = 0xffff_ffff_ffff_ffffn;

/**
 * `rank 16 | device type 5 | device index 7 | stream 15 | task 21`, OneFlow's layout.
 * @throws {InvalidArgumentError} for what doesn't fit its bits.
 */
export function encodeTaskId(place: TaskPlace): TaskId {
  const given = readFields("place", place, names, "an object such as { rank: 0, stream: 1, task: 2 }");
  const numbers: Required<TaskPlace> = { deviceType: 0, deviceIndex: 0, stream: 0, ...given };
  let id = 0n;
  let shift = 0n;
  for (const [field, bits] of fields) {
    const value = numbers[field];
    checkInteger(field, value, 0, 2 ** bits - 1);
    id |= BigInt(value) << shift;
    shift += BigInt(bits);
  }
  return id;
}

/** What {@link encodeTaskId} made an id of. @throws {InvalidArgumentError} for what is no id. */
export function decodeTaskId(id: TaskId): Required<TaskPlace> {
  checkTaskId("id", id);
  const place = { rank: 0, deviceType: 0, deviceIndex: 0, stream: 0, task: 0 };
  let rest = id;
  for (const [field, bits] of fields) {
    place[field] = Number(BigInt.asUintN(bits, rest));
    rest >>= BigInt(bits);
  }
  return place;
}

/** All of an id but the task: names the thread. @throws {InvalidArgumentError} for what is no id. */
export function threadOf(id: TaskId): bigint {
  checkTaskId("id", id);
  return threadBits(id);
}

/** @throws {InvalidArgumentError} for what is no id. */
export function rankOf(id: TaskId): number {
  checkTaskId("id", id);
  return Number(rankBits(id));
}

/** @throws {InvalidArgumentError} */
export function checkTaskId(argument: string, id: TaskId): void {
  if (typeof id === "bigint" && id >= 0n && id <= largest) return;
  throw new InvalidArgumentError(argument, id, "a task's id, as encodeTaskId() returns it");
}

// For each message, of ids that have been looked at.
export const threadBits = (id: TaskId): bigint => id >> 21n;
export const rankBits = (id: TaskId): bigint => id >> 48n;
