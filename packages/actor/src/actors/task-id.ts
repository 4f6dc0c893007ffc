import { InvalidArgumentError } from "@dfccl/primitives";

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

/**
 * `rank 16 | device type 5 | device index 7 | stream 15 | task 21`, OneFlow's layout.
 * @throws {InvalidArgumentError} for what doesn't fit its bits.
 */
export function encodeTaskId(place: TaskPlace): TaskId {
  let id = 0n;
  let shift = 0n;
  for (const [field, bits] of fields) {
    const value = place[field] ?? 0;
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** bits) {
      throw new InvalidArgumentError(field, value, `a whole number from 0 to ${2 ** bits - 1}`);
    }
    id |= BigInt(value) << shift;
    shift += BigInt(bits);
  }
  return id;
}

export function decodeTaskId(id: TaskId): Required<TaskPlace> {
  const place = { rank: 0, deviceType: 0, deviceIndex: 0, stream: 0, task: 0 };
  let rest = id;
  for (const [field, bits] of fields) {
    place[field] = Number(BigInt.asUintN(bits, rest));
    rest >>= BigInt(bits);
  }
  return place;
}

/** All of an id but the task: names the thread. */
export function threadOf(id: TaskId): bigint {
  return id >> 21n;
}

export function rankOf(id: TaskId): number {
  return Number(id >> 48n);
}
