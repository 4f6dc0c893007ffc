import type { LocalChunk, Program, Step } from "../program.js";
import {
  type ConnectionName,
  ConnectionSharedError,
  PayloadMismatchError,
  type StepPosition,
  UnmatchedSendError,
} from "../program-errors.js";

export interface MessageEnd extends StepPosition {
  readonly content: Step;
}

/** One connection; the n-th send meets the n-th receive. */
export interface ConnectionMessages {
  readonly name: ConnectionName;
  readonly sends: MessageEnd[];
  readonly recvs: MessageEnd[];
}

/**
 * Pairs sends with receives.
 * @throws {ConnectionSharedError} if two blocks use one end of a connection.
 * @throws {UnmatchedSendError} if a connection has more of the one than of the other.
 * @throws {PayloadMismatchError} if the ends of a message disagree on its size or landing place.
 */
export function matchMessages(program: Program): ConnectionMessages[] {
  const connections = new Map<string, ConnectionMessages>();
  const endsOf = (source: number, destination: number, channel: number): ConnectionMessages => {
    const key = `${source} ${destination} ${channel}`;
    let connection = connections.get(key);
    if (connection === undefined) {
      connection = { name: { source, destination, channel }, sends: [], recvs: [] };
      connections.set(key, connection);
    }
    return connection;
  };
  program.ranks.forEach(({ blocks }, rank) => {
    blocks.forEach(({ steps }, block) => {
      steps.forEach((content, step) => {
        const end: MessageEnd = { rank, block, step, content };
        if (content.recv) addEnd(endsOf(content.recv.peer, rank, content.recv.channel), "recv", end);
        if (content.send) addEnd(endsOf(rank, content.send.peer, content.send.channel), "send", end);
      });
    });
  });
  const all = [...connections.values()];
  all.forEach(checkPairs);
  return all;
}

function addEnd(connection: ConnectionMessages, direction: "send" | "recv", end: MessageEnd): void {
  const ends = direction === "send" ? connection.sends : connection.recvs;
  const first = ends[0];
  if (first !== undefined && first.block !== end.block) {
    const { source, destination, channel } = connection.name;
    const peer = direction === "send" ? destination : source;
    throw new ConnectionSharedError(positionOf(end), positionOf(first), direction, peer, channel);
  }
  ends.push(end);
}

function checkPairs({ name, sends, recvs }: ConnectionMessages): void {
  const unmatched = sends[recvs.length] ?? recvs[sends.length];
  if (unmatched !== undefined) throw new UnmatchedSendError(positionOf(unmatched), name, sends.length, recvs.length);
  sends.forEach((sent, index) => {
    const received = recvs[index];
    if (received === undefined) return;
    const offered = describePayload(sent.content.count, sent.content.send?.remote);
    const expected = describePayload(received.content.count, received.content.recv?.landing);
    if (offered !== expected) {
      throw new PayloadMismatchError(positionOf(received), positionOf(sent), name, offered, expected);
    }
  });
}

function describePayload(count: number, directly: LocalChunk | undefined): string {
  return `${count} chunks ${directly === undefined ? "through a slot" : `directly at ${directly.buffer} chunk ${directly.chunk}`}`;
}

export function positionOf({ rank, block, step }: StepPosition): StepPosition {
  return { rank, block, step };
}
