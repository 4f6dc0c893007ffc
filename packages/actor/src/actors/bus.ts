import { checkFunction } from "@dfccl/primitives";
import type { ActorMessage } from "./message.js";

/**
 * Carries messages between actors. Each is delivered once, later and never within `send`. Messages to one thread of the same
 * rank arrive in the order of sending; those between ranks may overtake each other, because `SequencedInbox` puts
 * them in order again.
 */
export interface Bus {
  send(message: ActorMessage, deliver: (message: ActorMessage) => void): void;
}

/** Delivers in the order of sending, between turns of the caller's code. */
export function microtaskBus(): Bus {
  return {
    send(message, deliver) {
      checkFunction("deliver", deliver, "a function that takes the message");
      queueMicrotask(() => deliver(message));
    },
  };
}

/** A message between ranks with its place in the order of its (registers, sender, receiver). */
export interface Sequenced {
  readonly message: ActorMessage;
  readonly sequence: number;
}

/** Numbers what leaves and restores that order where it arrives. */
export class SequencedInbox {
  private readonly sent = new Map<string, number>();
  private readonly expected = new Map<string, number>();
  private readonly early = new Map<string, Map<number, ActorMessage>>();

  number(message: ActorMessage): number {
    const key = routeOf(message);
    const sequence = this.sent.get(key) ?? 0;
    this.sent.set(key, sequence + 1);
    return sequence;
  }

  /** @returns what may be handed on now: nothing while an earlier one is missing. */
  receive({ message, sequence }: Sequenced): ActorMessage[] {
    const key = routeOf(message);
    let expected = this.expected.get(key) ?? 0;
    const early = this.early.get(key) ?? new Map<number, ActorMessage>();
    early.set(sequence, message);
    this.early.set(key, early);
    const inOrder: ActorMessage[] = [];
    for (let next = early.get(expected); next !== undefined; next = early.get(expected)) {
      early.delete(expected);
      inOrder.push(next);
      expected += 1;
    }
    this.expected.set(key, expected);
    return inOrder;
  }
}

function routeOf(message: ActorMessage): string {
  if (message.kind === "command") return `command ${message.to}`;
  const registerId = message.kind === "end" ? message.registerId : message.register.spec.id;
  return `${registerId} ${message.from} ${message.to}`;
}
