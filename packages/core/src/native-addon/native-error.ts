import type { ErrorFacts } from "@dfccl/primitives";
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
  "COUNT_MISMATCH",
] as const;

type AddonFacts = Readonly<Record<string, string>>;

interface ThrownByAddon extends Error {
  status?: number;
  remedy?: string;
  facts?: AddonFacts;
}

/**
 * Turns what the addon throws into the typed family; other errors pass as they are.
 * @param complete - makes of the addon's facts, which are texts, those of the error.
 */
export function typedError(error: unknown, complete: (facts: AddonFacts) => ErrorFacts = (facts) => facts): unknown {
  if (!(error instanceof Error)) return error;
  const { status, remedy, message } = error as ThrownByAddon;
  if (status === undefined || remedy === undefined) return error;
  const code = statusCodes[status] ?? "UNKNOWN";
  const facts = complete((error as ThrownByAddon).facts ?? {});
  if (code === "CLOSED") return new ClosedError("The world");
  if (code === "REGISTRATION_MISMATCH") return new RegistrationMismatchError(code, message, remedy, facts);
  return new EngineError(code, message, remedy, facts);
}

/** Calls the addon; what it throws is typed. */
export function callNative<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw typedError(error);
  }
}
