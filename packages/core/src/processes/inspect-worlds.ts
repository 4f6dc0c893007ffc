import { callNative } from "../native-addon/native-error.js";
import type { NativeWorldStatus } from "../native-addon/native-reports.js";
import { nativeAddon } from "../native-addon/native-world.js";

/** What a world of processes is at: who is in it, and which collectives are registered, with every member's runs. */
export type WorldStatus = NativeWorldStatus;

/**
 * Looks at the worlds of all processes on this machine that this user may look into, from outside: they need not answer. This
 * process's own world is not among them.
 * @throws {EngineError} TIMEOUT where a stopped process holds a world's lock.
 */
export function inspectWorlds(): readonly WorldStatus[] {
  return callNative(() => nativeAddon().inspectWorlds());
}
