import type { FusedGraph, FusedPair } from "./fuse.js";
import { JointTable } from "./routes.js";

/** Channels that undirected messages may be spread over, before fused pairs are taken apart instead. */
export const defaultChannelLimit = 32;

export interface ChannelAssignment {
  /** `channels[message]`: the number that its connection gets. */
  readonly channels: readonly number[];
  /** Pairs that no channel within the limit allows to be fused; the others' assignment is of no use while there are any. */
  readonly apart: readonly FusedPair[];
}

/**
 * Gives each chain of messages a channel: the user's, or the lowest on which all its joints are possible. Parts of the data
 * get channels of their own, so that they run side by side: `channel + part × channels of one part`.
 * @see GC3, section 5.2
 */
export function assignChannels(graph: FusedGraph, limit: number = defaultChannelLimit): ChannelAssignment {
  const table = new JointTable(graph.messages);
  const chosen: number[] = [];
  const apart: FusedPair[] = [];
  const routes = graph.routes.all();
  const pairOf = new Map<number, FusedPair>();
  for (const instruction of graph.instructions) {
    if (instruction?.recv === undefined || instruction.send === undefined) continue;
    const [receive, send] = instruction.fusedFrom ?? [];
    if (receive !== undefined && send !== undefined) pairOf.set(instruction.recv, `${receive} ${send}`);
  }
  for (const { directive, joints } of routes) if (directive !== undefined) table.add(joints, directive);
  for (const { directive, joints, messages } of routes) {
    let channel = directive ?? 0;
    while (directive === undefined && channel < limit && !table.allows(joints, channel)) channel += 1;
    if (channel === limit && directive === undefined) {
      // One of its joints, at least, is in the way on every channel.
      for (const joint of joints) {
        const pair = pairOf.get(joint.recv);
        if (pair !== undefined && !table.allows([joint], 0)) apart.push(pair);
      }
      if (apart.length === 0) for (const joint of joints) apart.push(...[pairOf.get(joint.recv)].filter((pair) => pair !== undefined));
      continue;
    }
    if (directive === undefined) table.add(joints, channel);
    for (const message of messages) chosen[message] = channel;
  }
  const channelsOfAPart = 1 + chosen.reduce((most, channel) => Math.max(most, channel), 0);
  return { channels: graph.messages.map(({ id, part }) => (chosen[id] ?? 0) + part * channelsOfAPart), apart };
}
