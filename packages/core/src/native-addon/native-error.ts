import { ClosedError, EngineError, RegistrationMismatchError } from "../errors.js";

/** In the order of dfcclResult_t (native/include/dfccl/status.h). */
export const statusCodes = [
  "SUCCESS",
  "INVALID_ARGUMENT",
  "UNKNOWN_COLLECTIVE",
  "ALREADY_REGISTERED",
  "REGISTRATION_MISMATCH",
  "INVALID_PROGRAM",
  "OUT_OF_MEMORY",
  "QUEUE_FULL",
  "IN_USE",
  "CLOSED",
  "ABORTED",
  "TIMEOUT",
  "SYSTEM",
  "DEADLOCK",
  "UNAVAILABLE",
] as const;

interface ThrownByAddon extends Error {
  status?: number;
  remedy?: string;
  facts?: Record<string, string>;
}

/** Turns what the addon throws into the typed family; other errors pass as they are. */
export function typedError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { status, remedy, facts, message } = error as ThrownByAddon;
  if (status === undefined || remedy === undefined) return error;
  const code = statusCodes[status] ?? "UNKNOWN";
  if (code === "CLOSED") return new ClosedError("The world");
  if (code === "REGISTRATION_MISMATCH") return new RegistrationMismatchError(code, message, remedy, facts ?? {});
  return new EngineError(code, message, remedy, facts ?? {});
}

/** Calls the addon; what it throws is typed. */
export function callNative<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw typedError(error);
  }
}
