import { type ChunkRef, type LocalChunk, programLimits } from "@dfccl/primitives";
import { NotDirectError } from "../language/errors.js";
import type { BlockAssignment, BlockPlan } from "./assign-blocks.js";
import { type Instruction, type InstructionGraph, messageEndsOf } from "./instruction-graph.js";
import type { ReplicatedTrace } from "./replicate.js";

export interface DirectGraph {
  /** Without messages. */
  readonly graph: InstructionGraph;
  /** A block for each part of each rank. */
  readonly blocks: BlockAssignment;
  /** By rank: what is still used. */
  readonly scratchChunks: readonly number[];
  /** Where a rank overwrites what it has others read: allowed where it is sent to them first, as an exchange does. */
  readonly overwrites: readonly NotDirectError[];
}

/**
 * For ranks that share memory: takes all messages away. What a message carried to a reduction, the reduction reads where it
 * lies; where a result was sent, it is written; raw data that is only handed on is written by the rank that has it.
 * @param graph - after mergeReductions, with receives as the program says them.
 * @throws {NotDirectError} at the line of an operation whose data must wait for another rank.
 */
export function directAccesses(graph: InstructionGraph, trace: ReplicatedTrace): DirectGraph {
  return new DirectAccesses(graph, trace).rewrite();
}

interface Move {
  readonly sources: ChunkRef[];
  readonly destinations: ChunkRef[];
  readonly operations: number[];
}

class DirectAccesses {
  private readonly moves = new Map<number, Move>();
  /** Copies and sends of raw data, by what they read. */
  private readonly rawMoves = new Map<string, number>();
  /** By instruction: the one that stands for it. */
  private readonly hosts = new Map<number, number>();
  private readonly waiters: readonly (readonly number[])[];

  constructor(
    private readonly graph: InstructionGraph,
    private readonly trace: ReplicatedTrace,
  ) {
    const waiters: number[][] = graph.instructions.map(() => []);
    graph.before.forEach((awaited, id) => {
      for (const other of awaited) waiters[other]?.push(id);
    });
    this.waiters = waiters;
  }

  rewrite(): DirectGraph {
    const { instructions, messages, ranks } = this.graph;
    for (const instruction of instructions) if (instruction !== undefined) this.takeLocal(instruction);
    const { senders, receivers } = messageEndsOf(this.graph);
    for (const { id } of messages) {
      const [send, receive] = [instructions[senders[id] ?? -1], instructions[receivers[id] ?? -1]];
      if (send !== undefined && receive !== undefined) this.takeMessage(send, receive);
    }
    const { before, overwrites } = this.waits();
    const rewritten = instructions.map((instruction) => {
      const move = instruction && this.moves.get(instruction.id);
      if (instruction === undefined || move === undefined) return undefined;
      const { sources, destinations, operations } = move;
      const { id, rank, count } = instruction;
      return { id, rank, count, op: "multiReduceCopy", direct: { sources, destinations }, operations } as const;
    });
    const direct = { instructions: rewritten, messages: [], before, uses: this.graph.uses, ranks };
    return { graph: direct, blocks: this.blocksOf(direct), scratchChunks: this.scratchChunks(), overwrites };
  }

  private takeLocal(instruction: Instruction): void {
    const { id, rank, op, src, dst, operations } = instruction;
    if (op === "send" || op === "recv") return;
    if ((op !== "multiReduceCopy" && op !== "copy") || dst === undefined) throw this.refusal(instruction, "it adds to what came before");
    const sources = (instruction.sources ?? (src ? [src] : [])).map((chunk) => ({ rank, ...chunk }));
    this.moves.set(id, { sources, destinations: [{ rank, ...dst }], operations: [...operations] });
    if (op === "copy" && src?.buffer === "input") this.rawMoves.set(rawKey(instruction, src), id);
  }

  private takeMessage(send: Instruction, receive: Instruction): void {
    const { src } = send;
    const { dst } = receive;
    if (src === undefined || dst === undefined || receive.op !== "recv") throw this.refusal(receive, "it adds to what came before");
    const host = this.readerOf(send, src, receive, dst) ?? this.writerOf(send, src, receive, dst);
    if (host === undefined) throw this.refusal(send, "its data comes from another rank itself");
    this.moves.get(host)?.operations.push(...send.operations);
    for (const { id } of [send, receive]) if (id !== host) this.hosts.set(id, host);
  }

  /** The reduction that a message brings raw data to, and nothing else; it reads them where they lie. */
  private readerOf(send: Instruction, src: LocalChunk, receive: Instruction, dst: LocalChunk): number | undefined {
    const [reader, ...others] = this.waiters[receive.id] ?? [];
    const instruction = reader === undefined ? undefined : this.graph.instructions[reader];
    const move = reader === undefined ? undefined : this.moves.get(reader);
    if (src.buffer !== "input" || others.length > 0 || this.graph.uses[receive.id]?.isFinal !== false) return undefined;
    if (instruction?.op !== "multiReduceCopy" || instruction.count !== send.count || move === undefined) return undefined;
    const at = move.sources.findIndex(({ rank, buffer, chunk }) => rank === receive.rank && buffer === dst.buffer && chunk === dst.chunk);
    if (at < 0) return undefined;
    move.sources[at] = { rank: send.rank, ...src };
    return reader;
  }

  /** Whoever makes what is sent, or has it from the beginning, writes it where it is wanted. */
  private writerOf(send: Instruction, src: LocalChunk, receive: Instruction, dst: LocalChunk): number | undefined {
    const maker = src.buffer === "input" ? this.rawMove(send, src) : this.graph.uses[send.id]?.forwards;
    const move = maker === undefined ? undefined : this.moves.get(maker);
    const isAll = maker !== undefined && this.graph.instructions[maker]?.count === send.count;
    if (!isAll || move === undefined) return undefined;
    if (move.destinations.length === programLimits.references) {
      throw this.refusal(send, `one step writes to ${programLimits.references} places at most`);
    }
    const isWritten = move.destinations.some(
      ({ rank, buffer, chunk }) => rank === receive.rank && buffer === dst.buffer && Math.abs(chunk - dst.chunk) < send.count,
    );
    if (isWritten) throw this.refusal(receive, "it writes again where the same data went before");
    move.destinations.push({ rank: receive.rank, ...dst });
    return maker;
  }

  private rawMove(send: Instruction, src: LocalChunk): number {
    const key = rawKey(send, src);
    const known = this.rawMoves.get(key);
    if (known !== undefined) return known;
    this.rawMoves.set(key, send.id);
    this.moves.set(send.id, { sources: [{ rank: send.rank, ...src }], destinations: [], operations: [] });
    return send.id;
  }

  /** Who waits for whom, now; without messages that must be within a rank. */
  private waits(): { before: Set<number>[]; overwrites: NotDirectError[] } {
    const before: Set<number>[] = this.graph.before.map(() => new Set());
    const overwrites: NotDirectError[] = [];
    this.graph.before.forEach((awaited, id) => {
      const [waiter, waiting] = [this.hostOf(id), this.graph.instructions[id]];
      for (const other of awaited) {
        const host = this.hostOf(other);
        if (host === waiter || waiting === undefined) continue;
        if (this.graph.instructions[host]?.rank === this.graph.instructions[waiter]?.rank) {
          before[waiter]?.add(host);
          continue;
        }
        const isOverwrite = this.graph.instructions[other]?.op === "send" && !this.graph.uses[other]?.readers.has(id);
        const refusal = this.refusal(
          waiting,
          isOverwrite ? "it overwrites what others may still read" : "it needs what another rank makes",
        );
        if (!isOverwrite) throw refusal;
        overwrites.push(refusal);
      }
    });
    return { before, overwrites };
  }

  private hostOf(id: number): number {
    return this.hosts.get(id) ?? id;
  }

  private blocksOf(graph: InstructionGraph): BlockAssignment {
    const blocks: BlockPlan[][] = Array.from({ length: graph.ranks }, () => []);
    const byPart = new Map<string, BlockPlan>();
    const blockOf = graph.instructions.map((instruction) => {
      if (instruction === undefined) return undefined;
      const { rank } = instruction;
      const part = this.trace.operations[instruction.operations[0] ?? -1]?.part ?? 0;
      const own = blocks[rank] ?? [];
      const block = byPart.get(`${rank} ${part}`) ?? { rank, index: own.length, channel: 0, sendPeer: undefined, recvPeer: undefined };
      if (block.index === own.length) own.push(block);
      byPart.set(`${rank} ${part}`, block);
      return block;
    });
    blocks.forEach((own, rank) => {
      if (own.length === 0) own.push({ rank, index: 0, channel: 0, sendPeer: undefined, recvPeer: undefined });
    });
    return { blocks, blockOf };
  }

  private scratchChunks(): number[] {
    const chunks = Array.from({ length: this.graph.ranks }, () => 0);
    for (const [id, { sources, destinations }] of this.moves) {
      const count = this.graph.instructions[id]?.count ?? 0;
      for (const { rank, buffer, chunk } of [...sources, ...destinations]) {
        if (buffer === "scratch") chunks[rank] = Math.max(chunks[rank] ?? 0, chunk + count);
      }
    }
    return chunks;
  }

  private refusal({ operations }: Instruction, why: string): NotDirectError {
    return new NotDirectError(this.trace.operations[operations[0] ?? -1]?.line ?? "the program", why);
  }
}

function rawKey({ rank, count }: Instruction, { chunk }: LocalChunk): string {
  return `${rank} ${chunk} ${count}`;
}
