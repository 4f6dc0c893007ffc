import { type LocalChunk, takesReduceOp } from "@dfccl/primitives";
import { Places, type Signature } from "../language/signature.js";
import type { Span } from "../language/span.js";
import { AccessTracker } from "./access-tracker.js";
import type { Instruction, InstructionGraph, Message, ResultUse } from "./instruction-graph.js";
import type { ReplicatedTrace } from "./replicate.js";

/**
 * Expands operations: one within a rank is one instruction, one between ranks is a send and a receive.
 *
 * A step of a program names raw data `input` and data that the program has written `output`, even where both are the same
 * memory. Which it is follows from program order. Where a span has some of each, and where out of place an output would
 * stay unwritten, the raw chunks are first copied to `output`; in place, that is onto themselves.
 * @see GC3, section 4.2
 */
export function generateInstructions(replicated: ReplicatedTrace): InstructionGraph {
  const generator = new Generator(replicated.signature);
  replicated.operations.forEach((operation, number) => {
    const { kind, src, dst, channel, part } = operation;
    if (src.rank === dst.rank) generator.local(kind, src, dst, number);
    else generator.remote(kind, src, dst, { directive: channel, part }, number);
  });
  return generator.finish();
}

class Generator {
  private readonly places: Places;
  private readonly tracker = new AccessTracker();
  private readonly instructions: Instruction[] = [];
  private readonly messages: Message[] = [];
  private readonly before: Set<number>[] = [];
  private readonly uses: ResultUse[] = [];
  private readonly writtenSpans: (Span | undefined)[] = [];

  constructor(private readonly signature: Signature) {
    this.places = new Places(signature);
  }

  local(kind: "copy" | "reduce", src: Span, dst: Span, operation: number): void {
    const from = this.readable(src);
    const to = this.writable(dst);
    const facts = { rank: src.rank, count: src.count, operations: [operation] };
    if (kind === "copy") {
      this.add({ ...facts, op: "copy", src: from, dst: to }, [src], dst);
      return;
    }
    const own = this.readable(dst);
    if (own.buffer === to.buffer) this.add({ ...facts, op: "reduce", src: from, dst: to }, [dst, src], dst);
    else this.add({ ...facts, op: "multiReduceCopy", sources: [own, from], dst: to }, [dst, src], dst);
  }

  remote(
    kind: "copy" | "reduce",
    src: Span,
    dst: Span,
    route: { readonly directive: number | undefined; readonly part: number },
    operation: number,
  ): void {
    const message = this.messages.length;
    const { count } = src;
    this.messages.push({ id: message, from: src.rank, to: dst.rank, count, ...route });
    const facts = { count, operations: [operation] };
    const maker = this.makerOf(src);
    const send = this.add({ ...facts, rank: src.rank, op: "send", src: this.readable(src), send: message }, [src], undefined);
    const use = this.uses[send];
    // Where raw chunks had to be copied first, the copies made it.
    if (use !== undefined && maker !== undefined && maker === this.makerOf(src)) use.forwards = maker;
    const to = this.writable(dst);
    if (kind === "copy") this.add({ ...facts, rank: dst.rank, op: "recv", dst: to, recv: message }, [], dst);
    else this.add({ ...facts, rank: dst.rank, op: "recvReduceCopy", src: this.readable(dst), dst: to, recv: message }, [dst], dst);
  }

  finish(): InstructionGraph {
    const { signature, places, tracker } = this;
    // What an output holds that was never written is its raw input. In place, that may be all that is promised; out of
    // place it must be copied, and a reduction wants each result written, though one rank has nothing to reduce.
    const mustWrite = signature.inPlace === "either" || (signature.inPlace === true && takesReduceOp(signature.collective));
    for (let rank = 0; rank < signature.ranks; rank += 1) {
      const outputs = places.size(rank, "output");
      for (let index = 0; index < outputs; index += 1) {
        const { buffer, index: at } = places.placeOf(rank, "output", index);
        let count = 0;
        while (index + count < outputs && tracker.writerOf(rank, buffer, at + count) === undefined) count += 1;
        if (count > 0 && mustWrite && signature.postcondition(rank, index) !== undefined)
          this.bringOver({ rank, buffer, index: at, count });
        index += count;
      }
      for (let index = 0; index < outputs; index += 1) {
        const { buffer, index: at } = places.placeOf(rank, "output", index);
        const use = this.uses[tracker.writerOf(rank, buffer, at) ?? -1];
        if (use !== undefined) use.isFinal = true;
      }
    }
    return { instructions: this.instructions, messages: this.messages, before: this.before, uses: this.uses, ranks: signature.ranks };
  }

  private add(instruction: Omit<Instruction, "id">, reads: readonly Span[], writes: Span | undefined): number {
    const id = this.instructions.length;
    const before = new Set<number>();
    for (const span of reads) {
      for (const writer of this.tracker.read(id, span)) {
        before.add(writer);
        this.uses[writer]?.readers.add(id);
      }
    }
    if (writes !== undefined) for (const earlier of this.tracker.write(id, writes)) before.add(earlier);
    this.instructions.push({ ...instruction, id });
    this.before.push(before);
    this.uses.push({ readers: new Set(), isFinal: false, forwards: undefined });
    this.writtenSpans.push(writes);
    return id;
  }

  /** The name under which a step may read a span. */
  private readable(span: Span): LocalChunk {
    const isWritten = (offset: number): boolean => this.tracker.writerOf(span.rank, span.buffer, span.index + offset) !== undefined;
    let written = 0;
    for (let offset = 0; offset < span.count; offset += 1) if (isWritten(offset)) written += 1;
    if (written === 0) return { buffer: "input", chunk: this.places.inputAt(span.rank, span) ?? span.index };
    for (let offset = 0; offset < span.count && written < span.count; offset += 1) {
      let count = 0;
      while (offset + count < span.count && !isWritten(offset + count)) count += 1;
      if (count > 0) this.bringOver({ ...span, index: span.index + offset, count });
      offset += count;
    }
    return this.writable(span);
  }

  /** The name under which a step may write a span. */
  private writable(span: Span): LocalChunk {
    const output = this.places.outputAt(span.rank, span);
    return output === undefined ? { buffer: "scratch", chunk: span.index } : { buffer: "output", chunk: output };
  }

  /** Copies raw chunks to the output that shares their memory. */
  private bringOver(span: Span): void {
    const src: LocalChunk = { buffer: "input", chunk: this.places.inputAt(span.rank, span) ?? span.index };
    this.add({ rank: span.rank, op: "copy", count: span.count, src, dst: this.writable(span), operations: [] }, [span], span);
  }

  /** The instruction that made all of a span and nothing else. */
  private makerOf({ rank, buffer, index, count }: Span): number | undefined {
    const maker = this.tracker.writerOf(rank, buffer, index);
    const made = maker === undefined ? undefined : this.writtenSpans[maker];
    if (made === undefined || made.index !== index || made.count !== count) return undefined;
    for (let at = index; at < index + count; at += 1) if (this.tracker.writerOf(rank, buffer, at) !== maker) return undefined;
    return maker;
  }
}
