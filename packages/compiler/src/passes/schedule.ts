import type { BlockAssignment, BlockPlan } from "./assign-blocks.js";
import { allWaits, type Instruction, type InstructionGraph, reversed } from "./instruction-graph.js";
import { PriorityHeap } from "./priority-heap.js";

/** Where an instruction ended up. */
export interface Placement {
  readonly block: number;
  /** Index within the block. */
  readonly step: number;
}

export type Schedule =
  | {
      readonly ok: true;
      /** All instructions, in an order in which a machine that does one at a time could execute them. */
      readonly order: readonly number[];
      /** By instruction. */
      readonly placements: readonly (Placement | undefined)[];
    }
  /** Instructions that wait for their turn on a connection, or for a slot of it, for ever. */
  | { readonly ok: false; readonly stuck: readonly number[] };

export interface ScheduleOptions {
  readonly slotCount: number;
  /** "depth": what is ready earliest first. "program": in the program's own order, which is always possible unfused. */
  readonly order: "depth" | "program";
}

/**
 * Orders all instructions of all ranks, one at a time, as if they ran so: a send only while its connection has a free slot, a
 * receive only when it is its message's turn. Each block gets its instructions in this order; so everything that a step can
 * ever wait for (data, turn, slot, block) comes before it, and the program can't deadlock.
 * @see GC3, section 5.2
 */
export function schedule(
  graph: InstructionGraph,
  channels: readonly number[],
  blocks: BlockAssignment,
  options: ScheduleOptions,
): Schedule {
  return new Scheduler(graph, channels, blocks, options).run();
}

interface Connection {
  /** Messages in flight, in the order in which they were sent. */
  readonly inFlight: number[];
  /** Instructions that are ready but for this connection. */
  readonly parked: Set<number>;
}

class Scheduler {
  private readonly connections = new Map<string, Connection>();
  private readonly connectionOf: Connection[];
  private readonly placements: (Placement | undefined)[] = [];
  private readonly blockLengths: number[][];
  /** By rank and block: position in the order of its latest instruction. */
  private readonly latest: number[][];
  private readonly order: number[] = [];
  private readonly openWaits: Int32Array;
  private readonly waiters: readonly (readonly number[])[];
  private readonly ready: PriorityHeap;

  constructor(
    private readonly graph: InstructionGraph,
    channels: readonly number[],
    private readonly blocks: BlockAssignment,
    private readonly options: ScheduleOptions,
  ) {
    const waits = allWaits(graph);
    this.waiters = reversed(waits);
    this.openWaits = Int32Array.from(waits, (list) => list.length);
    this.ready = new PriorityHeap(options.order === "program" ? (a, b) => a < b : byDepth(waits, this.waiters));
    this.connectionOf = graph.messages.map(({ id, from, to }) => {
      const key = `${from} ${to} ${channels[id]}`;
      const connection = this.connections.get(key) ?? { inFlight: [], parked: new Set<number>() };
      this.connections.set(key, connection);
      return connection;
    });
    this.blockLengths = blocks.blocks.map((list) => list.map(() => 0));
    this.latest = blocks.blocks.map((list) => list.map(() => -1));
  }

  run(): Schedule {
    const { graph, ready } = this;
    let left = 0;
    for (const instruction of graph.instructions) {
      if (instruction === undefined) continue;
      left += 1;
      if (this.openWaits[instruction.id] === 0) ready.add(instruction.id);
    }
    for (let id = ready.take(); id !== undefined; id = ready.take()) {
      const instruction = graph.instructions[id];
      if (instruction === undefined || this.park(instruction)) continue;
      this.place(instruction);
      left -= 1;
    }
    if (left === 0) return { ok: true, order: this.order, placements: this.placements };
    const stuck = [...this.connections.values()].flatMap(({ parked }) => [...parked]);
    return { ok: false, stuck: [...new Set(stuck)].sort((a, b) => a - b) };
  }

  /** Sets an instruction aside that has to wait for a connection. */
  private park({ id, recv, send }: Instruction): boolean {
    const incoming = recv === undefined ? undefined : this.connectionOf[recv];
    if (incoming !== undefined && incoming.inFlight[0] !== recv) {
      incoming.parked.add(id);
      return true;
    }
    const outgoing = send === undefined ? undefined : this.connectionOf[send];
    if (outgoing !== undefined && outgoing.inFlight.length >= this.options.slotCount) {
      outgoing.parked.add(id);
      return true;
    }
    return false;
  }

  private place(instruction: Instruction): void {
    const { id, rank, recv, send } = instruction;
    const block = (this.blocks.blockOf[id] ?? this.blockFor(instruction)).index;
    const lengths = this.blockLengths[rank] ?? [];
    this.placements[id] = { block, step: lengths[block] ?? 0 };
    lengths[block] = (lengths[block] ?? 0) + 1;
    const latest = this.latest[rank];
    if (latest !== undefined) latest[block] = this.order.length;
    this.order.push(id);

    if (recv !== undefined) {
      this.connectionOf[recv]?.inFlight.shift();
      this.wake(this.connectionOf[recv]);
    }
    if (send !== undefined) {
      this.connectionOf[send]?.inFlight.push(send);
      this.wake(this.connectionOf[send]);
    }
    for (const waiter of this.waiters[id] ?? []) {
      const open = (this.openWaits[waiter] ?? 0) - 1;
      this.openWaits[waiter] = open;
      if (open === 0) this.ready.add(waiter);
    }
  }

  private wake(connection: Connection | undefined): void {
    if (connection === undefined || connection.parked.size === 0) return;
    const parked = [...connection.parked];
    connection.parked.clear();
    for (const id of parked) this.ready.add(id);
  }

  /** Within a rank: the block of the latest instruction that it waits for, or else the one that is idle for longest. */
  private blockFor({ id, rank }: Instruction): BlockPlan {
    const blocks = this.blocks.blocks[rank] ?? [];
    const latest = this.latest[rank] ?? [];
    const awaited = new Set([...(this.graph.before[id] ?? [])].map((other) => this.placements[other]?.block));
    const candidates = blocks.filter(({ index }) => awaited.has(index));
    const sign = candidates.length > 0 ? -1 : 1;
    const [chosen] = (candidates.length > 0 ? candidates : [...blocks]).sort(
      (a, b) => sign * ((latest[a.index] ?? -1) - (latest[b.index] ?? -1)) || a.index - b.index,
    );
    return chosen ?? { rank, index: 0, channel: 0, sendPeer: undefined, recvPeer: undefined };
  }
}

/** Fewest instructions from the start first; of these, the one with the longest way to go; then program order. */
function byDepth(waits: readonly (readonly number[])[], waiters: readonly (readonly number[])[]): (a: number, b: number) => boolean {
  const open = Int32Array.from(waits, (list) => list.length);
  const depth = new Int32Array(waits.length);
  const height = new Int32Array(waits.length);
  const order: number[] = [];
  open.forEach((count, id) => {
    if (count === 0) order.push(id);
  });
  for (const id of order) {
    for (const waiter of waiters[id] ?? []) {
      depth[waiter] = Math.max(depth[waiter] ?? 0, (depth[id] ?? 0) + 1);
      const left = (open[waiter] ?? 0) - 1;
      open[waiter] = left;
      if (left === 0) order.push(waiter);
    }
  }
  for (const id of order.toReversed()) {
    for (const awaited of waits[id] ?? []) height[awaited] = Math.max(height[awaited] ?? 0, (height[id] ?? 0) + 1);
  }
  return (a, b) => {
    const byDepths = (depth[a] ?? 0) - (depth[b] ?? 0);
    const byHeights = (height[b] ?? 0) - (height[a] ?? 0);
    return (byDepths || byHeights || a - b) < 0;
  };
}
