import type { SeededRandom } from "@dfccl/primitives";
import type { ActorMessage, Bus, VirtualClock } from "../../src/index.js";
import { rankOf, threadOf } from "../../src/index.js";

/** What becomes of the n-th message of a kind: a bus that must not be trusted. */
export interface Fault {
  readonly kind: "acknowledgement" | "data";
  readonly nth: number;
  readonly what: "drop" | "double";
}

/**
 * Delays every message at random. A thread's messages of its own rank keep their order, as its queue does; those between ranks
 * overtake each other.
 */
export function delayedBus(
  clock: VirtualClock,
  random: SeededRandom,
  mostMs: number,
  options: { fault?: Fault; watch?: (message: ActorMessage) => void } = {},
): Bus {
  const latest = new Map<bigint, number>();
  const counts = { acknowledgement: 0, data: 0, end: 0, command: 0 };
  const { fault, watch } = options;
  const send: Bus["send"] = (message, deliver) => {
    watch?.(message);
    const isLocal = message.kind === "command" || rankOf(message.from) === rankOf(message.to);
    let at = clock.now() + random.below(mostMs + 1);
    if (isLocal) {
      const thread = threadOf(message.to);
      at = Math.max(at, latest.get(thread) ?? 0);
      latest.set(thread, at);
    }
    clock.after(at - clock.now(), () => deliver(message));
  };
  return {
    send(message, deliver) {
      const nth = counts[message.kind];
      counts[message.kind] += 1;
      const isHit = fault !== undefined && fault.kind === message.kind && fault.nth === nth;
      if (isHit && fault.what === "drop") {
        // Never delivered, and the system is told of an idle clock by nobody: the end of the clock's run shows it.
        return;
      }
      send(message, deliver);
      if (isHit) send(message, deliver);
    },
  };
}
