import { checkNumber } from "./check-number.js";
import { entryAt, lookUp } from "./look-up.js";

/** Protocols, in the order of their codes (`Protocol` in native/src/daemon/framing/protocols.hpp). */
export const protocols = ["simple", "ll", "ll128"] as const;

export type Protocol = (typeof protocols)[number];

/** How the bytes of a slot lie in memory, and how the receiver knows that they are there. */
export interface WireLayout {
  /** Bytes that are published together. 0 where a counter beside the slot publishes all of it. */
  readonly unitBytes: number;
  /** Payload bytes of a unit; they come first. */
  readonly unitDataBytes: number;
  /** Bytes of the flag that ends a unit. */
  readonly unitFlagBytes: number;
  /** What tells the receiver that the payload is there. */
  readonly arrival: "tail-counter" | "inline-flag";
}

export interface ProtocolFacts {
  /** Slots of a connection: how many tiles a sender may be ahead of its receiver. */
  readonly slotCount: number;
  /** Bytes of a slot, flags included. */
  readonly slotBytes: number;
  /** Payload bytes of a slot. */
  readonly slotPayloadBytes: number;
  /** slotPayloadBytes / slotBytes. */
  readonly dataEfficiency: number;
  readonly wire: WireLayout;
}

const facts: Readonly<Record<Protocol, ProtocolFacts>> = {
  // Plain payload. The sender raises the tail counter after writing a slot, the receiver raises the head counter after
  // reading it: full bandwidth, at the price of one ordered store a slot.
  simple: protocolFacts(4, 32_768, { unitBytes: 0, unitDataBytes: 0, unitFlagBytes: 0, arrival: "tail-counter" }),
  // 8-byte words of 4 bytes of data and a 4-byte flag, stored at once: no order to wait for, half of the bandwidth.
  ll: protocolFacts(8, 16_384, { unitBytes: 8, unitDataBytes: 4, unitFlagBytes: 4, arrival: "inline-flag" }),
  // 128-byte lines of 120 bytes of data and an 8-byte flag: only where a 128-byte store arrives whole.
  ll128: protocolFacts(8, 32_768, { unitBytes: 128, unitDataBytes: 120, unitFlagBytes: 8, arrival: "inline-flag" }),
};

function protocolFacts(slotCount: number, slotBytes: number, wire: WireLayout): ProtocolFacts {
  const dataEfficiency = wire.unitBytes === 0 ? 1 : wire.unitDataBytes / wire.unitBytes;
  return { slotCount, slotBytes, slotPayloadBytes: slotBytes * dataEfficiency, dataEfficiency, wire };
}

export function isProtocol(value: unknown): value is Protocol {
  return (protocols as readonly unknown[]).includes(value);
}

export function protocolCode(protocol: Protocol): number {
  return protocols.indexOf(protocol);
}

/** @throws {InvalidArgumentError} for a code that no protocol has. */
export function protocolFromCode(code: number): Protocol {
  return entryAt(protocols, "protocol code", code);
}

/** Default slots, sizes and wire layout of a protocol. A program may ask for another slot count. */
export function protocolFactsOf(protocol: Protocol): ProtocolFacts {
  return lookUp(facts, "protocol", protocol);
}

/**
 * Bytes that `payloadBytes` take on the wire, flags included; the last unit is padded.
 * @param payloadBytes - bytes of data, 0 or more.
 */
export function wireBytes(protocol: Protocol, payloadBytes: number): number {
  checkNumber("payloadBytes", payloadBytes);
  const { unitBytes, unitDataBytes } = protocolFactsOf(protocol).wire;
  return unitBytes === 0 ? payloadBytes : Math.ceil(payloadBytes / unitDataBytes) * unitBytes;
}
