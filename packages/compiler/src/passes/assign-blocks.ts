import type { InstructionGraph } from "./instruction-graph.js";

/** A thread block of a rank: one sending and one receiving end at most, of one channel. */
export interface BlockPlan {
  readonly rank: number;
  /** Of the block among its rank's. */
  readonly index: number;
  readonly channel: number;
  sendPeer: number | undefined;
  recvPeer: number | undefined;
}

export interface BlockAssignment {
  /** `blocks[rank]`. */
  readonly blocks: readonly (readonly BlockPlan[])[];
  /** By instruction: the block that owns its connections; undefined for instructions within a rank, which go anywhere. */
  readonly blockOf: readonly (BlockPlan | undefined)[];
}

/**
 * Makes the blocks: one for each pair of ends that a fused instruction ties together; of the ends that are left, one sending
 * and one receiving of the same channel share a block, preferably those of the same peer. So every end has one block.
 * @see GC3, section 5.2
 */
export function assignBlocks(graph: InstructionGraph, channels: readonly number[]): BlockAssignment {
  const planner = new Planner(graph.ranks);
  const endsOf = graph.instructions.map((instruction) => {
    if (instruction === undefined) return {};
    const sent = graph.messages[instruction.send ?? -1];
    const received = graph.messages[instruction.recv ?? -1];
    const send = sent && { channel: channels[sent.id] ?? 0, peer: sent.to };
    const recv = received && { channel: channels[received.id] ?? 0, peer: received.from };
    return { send, recv };
  });
  graph.instructions.forEach((instruction, id) => {
    const { send, recv } = endsOf[id] ?? {};
    if (instruction !== undefined && send !== undefined && recv !== undefined)
      planner.tie(instruction.rank, send.channel, send.peer, recv.peer);
  });
  graph.instructions.forEach((instruction, id) => {
    const { send, recv } = endsOf[id] ?? {};
    if (instruction !== undefined && send !== undefined) planner.want(instruction.rank, "send", send.channel, send.peer);
    if (instruction !== undefined && recv !== undefined) planner.want(instruction.rank, "recv", recv.channel, recv.peer);
  });
  const blocks = planner.finish();
  const blockOf = graph.instructions.map((instruction, id) => {
    const { send, recv } = endsOf[id] ?? {};
    if (instruction === undefined) return undefined;
    if (send !== undefined) return planner.blockOf(instruction.rank, "send", send.channel, send.peer);
    return recv === undefined ? undefined : planner.blockOf(instruction.rank, "recv", recv.channel, recv.peer);
  });
  return { blocks, blockOf };
}

type End = "send" | "recv";

class Planner {
  private readonly blocks: BlockPlan[][];
  private readonly owners = new Map<string, BlockPlan>();
  private readonly wanted = new Map<string, { rank: number; end: End; channel: number; peer: number }>();

  constructor(ranks: number) {
    this.blocks = Array.from({ length: ranks }, () => []);
  }

  tie(rank: number, channel: number, sendPeer: number, recvPeer: number): void {
    if (this.blockOf(rank, "send", channel, sendPeer) === undefined) this.create(rank, channel, sendPeer, recvPeer);
  }

  want(rank: number, end: End, channel: number, peer: number): void {
    if (this.blockOf(rank, end, channel, peer) === undefined) this.wanted.set(key(rank, end, channel, peer), { rank, end, channel, peer });
  }

  finish(): BlockPlan[][] {
    const left = [...this.wanted.values()].sort((a, b) => a.rank - b.rank || a.channel - b.channel || a.peer - b.peer);
    const recvs = left.filter(({ end }) => end === "recv");
    const sends = left.filter(({ end }) => end === "send");
    const isOpen = ({ rank, end, channel, peer }: (typeof left)[number]): boolean => this.blockOf(rank, end, channel, peer) === undefined;
    const pair = (fits: (send: number, recv: number) => boolean): void => {
      for (const { rank, channel, peer } of sends.filter(isOpen)) {
        const other = recvs.find((recv) => recv.rank === rank && recv.channel === channel && isOpen(recv) && fits(peer, recv.peer));
        if (other !== undefined) this.create(rank, channel, peer, other.peer);
      }
    };
    pair((send, recv) => send === recv);
    pair(() => true);
    for (const { rank, channel, peer } of sends.filter(isOpen)) this.create(rank, channel, peer, undefined);
    for (const { rank, channel, peer } of recvs.filter(isOpen)) this.create(rank, channel, undefined, peer);
    // A rank without connections still needs a place for its own copies, and a program without any an empty block.
    this.blocks.forEach((blocks, rank) => {
      if (blocks.length === 0) this.create(rank, 0, undefined, undefined);
    });
    return this.blocks;
  }

  blockOf(rank: number, end: End, channel: number, peer: number): BlockPlan | undefined {
    return this.owners.get(key(rank, end, channel, peer));
  }

  private create(rank: number, channel: number, sendPeer: number | undefined, recvPeer: number | undefined): void {
    const blocks = this.blocks[rank] ?? [];
    const block = { rank, index: blocks.length, channel, sendPeer, recvPeer };
    blocks.push(block);
    if (sendPeer !== undefined) this.owners.set(key(rank, "send", channel, sendPeer), block);
    if (recvPeer !== undefined) this.owners.set(key(rank, "recv", channel, recvPeer), block);
  }
}

function key(rank: number, end: End, channel: number, peer: number): string {
  return `${rank} ${end} ${channel} ${peer}`;
}
