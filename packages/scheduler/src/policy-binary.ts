import { InvalidArgumentError } from "@dfccl/primitives";
import { checkPolicy } from "./check-policy.js";
import type { OrderKind } from "./order-policy.js";
import type { QuitKind } from "./quit-policy.js";
import type { SchedulePolicy } from "./scheduler.js";
import type { StickinessKind } from "./stickiness-policy.js";

/** Size of an encoded policy: the engine's `SchedulePolicy` (native `scheduling/scheduler.hpp`). */
export const POLICY_BYTES = 80;
const POLICY_VERSION = 1;

// In the order of the engine's enums.
const orderKinds: readonly OrderKind[] = ["fifo", "lifo", "priority"];
const stickinessKinds: readonly StickinessKind[] = ["fixed", "decreasing", "adaptive"];
const quitKinds: readonly QuitKind[] = ["never", "whenEmpty", "voluntary"];

/** Byte offset of every field in the engine's `SchedulePolicy`; a test compares them with the compiler's. */
export const policyOffsets = {
  version: 0,
  "order.kind": 4,
  "order.fetchEveryVisits": 8,
  "order.fetchWhenStuckVisits": 12,
  "order.fetchBatch": 16,
  "order.fetchesPerLap": 20,
  "stickiness.kind": 24,
  "stickiness.initialThreshold": 28,
  "stickiness.minimumThreshold": 32,
  "stickiness.maximumThreshold": 36,
  "stickiness.perPositionDecrement": 40,
  "stickiness.raiseFactor256ths": 44,
  "quit.kind": 48,
  "quit.idleVisits": 52,
  "quit.idleTicks": 56,
  "quit.residencyTicks": 64,
  streams: 72,
} as const;

/**
 * The bytes that the engine reads. Little endian.
 * @returns `POLICY_BYTES` bytes.
 * @throws {InvalidArgumentError} for a policy that the engine would refuse.
 */
export function encodePolicy(policy: SchedulePolicy): Uint8Array {
  checkPolicy(policy);
  const bytes = new Uint8Array(POLICY_BYTES);
  const view = new DataView(bytes.buffer);
  const put32 = (field: keyof typeof policyOffsets, value: number): void => view.setUint32(policyOffsets[field], value, true);
  const put64 = (field: keyof typeof policyOffsets, value: number): void => view.setBigUint64(policyOffsets[field], BigInt(value), true);
  const { order, stickiness, quit } = policy;

  put32("version", POLICY_VERSION);
  view.setUint8(policyOffsets["order.kind"], orderKinds.indexOf(order.kind));
  put32("order.fetchEveryVisits", order.fetchEveryVisits);
  put32("order.fetchWhenStuckVisits", order.fetchWhenStuckVisits);
  put32("order.fetchBatch", order.fetchBatch);
  put32("order.fetchesPerLap", order.fetchesPerLap);
  view.setUint8(policyOffsets["stickiness.kind"], stickinessKinds.indexOf(stickiness.kind));
  put32("stickiness.initialThreshold", stickiness.initialThreshold);
  put32("stickiness.minimumThreshold", stickiness.minimumThreshold);
  put32("stickiness.maximumThreshold", stickiness.maximumThreshold);
  put32("stickiness.perPositionDecrement", stickiness.perPositionDecrement);
  put32("stickiness.raiseFactor256ths", stickiness.raiseFactor * 256);
  view.setUint8(policyOffsets["quit.kind"], quitKinds.indexOf(quit.kind));
  put32("quit.idleVisits", quit.idleVisits);
  put64("quit.idleTicks", quit.idleTicks);
  put64("quit.residencyTicks", quit.residencyTicks);
  put32("streams", policy.streams);
  return bytes;
}

/**
 * The policy in `bytes`, the inverse of `encodePolicy`.
 * @throws {InvalidArgumentError} for bytes that hold no valid policy.
 */
export function decodePolicy(bytes: Uint8Array): SchedulePolicy {
  if (!ArrayBuffer.isView(bytes)) throw new InvalidArgumentError("bytes", bytes, "a Uint8Array, as encodePolicy() returns it");
  if (bytes.byteLength !== POLICY_BYTES) {
    throw new InvalidArgumentError("bytes.byteLength", bytes.byteLength, `${POLICY_BYTES} bytes`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const get32 = (field: keyof typeof policyOffsets): number => view.getUint32(policyOffsets[field], true);
  const get64 = (field: keyof typeof policyOffsets): number => Number(view.getBigUint64(policyOffsets[field], true));
  const getKind = <Kind>(field: keyof typeof policyOffsets, kinds: readonly Kind[]): Kind => {
    const code = view.getUint8(policyOffsets[field]);
    const kind = kinds[code];
    if (kind === undefined) throw new InvalidArgumentError(field, code, `a code from 0 to ${kinds.length - 1}`);
    return kind;
  };
  const version = get32("version");
  if (version !== POLICY_VERSION) throw new InvalidArgumentError("version", version, `version ${POLICY_VERSION}`);

  const policy: SchedulePolicy = {
    order: {
      kind: getKind("order.kind", orderKinds),
      fetchEveryVisits: get32("order.fetchEveryVisits"),
      fetchWhenStuckVisits: get32("order.fetchWhenStuckVisits"),
      fetchBatch: get32("order.fetchBatch"),
      fetchesPerLap: get32("order.fetchesPerLap"),
    },
    stickiness: {
      kind: getKind("stickiness.kind", stickinessKinds),
      initialThreshold: get32("stickiness.initialThreshold"),
      minimumThreshold: get32("stickiness.minimumThreshold"),
      maximumThreshold: get32("stickiness.maximumThreshold"),
      perPositionDecrement: get32("stickiness.perPositionDecrement"),
      raiseFactor: get32("stickiness.raiseFactor256ths") / 256,
    },
    quit: {
      kind: getKind("quit.kind", quitKinds),
      idleVisits: get32("quit.idleVisits"),
      idleTicks: get64("quit.idleTicks"),
      residencyTicks: get64("quit.residencyTicks"),
    },
    streams: get32("streams"),
  };
  checkPolicy(policy);
  return policy;
}
