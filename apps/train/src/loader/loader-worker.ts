import { BlockPool } from "@dfccl/queues";
import type { Decode } from "../data/decode.js";
import { SampleOrder } from "../data/sample-order.js";
import type { LoaderMemory } from "./loader-memory.js";

/** Where records come from; a test hands in its own. */
export interface RecordSource {
  /** @param offset - byte at which the record begins. @returns false: not yet; ask again. @throws where it can't be read. */
  tryRead(offset: number, into: Uint8Array): boolean;
}

/** Which batches there are, and what is in them. */
export interface LoadPlan {
  readonly recordBytes: number;
  /** Bytes from one record to the next. */
  readonly stride: number;
  /** Records in the file. */
  readonly records: number;
  readonly seed: number;
  /** Records of a batch, of this rank; its first one's place in the global batch; and the global batch. */
  readonly share: number;
  readonly offset: number;
  readonly globalBatch: number;
  readonly firstStep: number;
  readonly steps: number;
}

/**
 * One of several loaders: it takes every so-manieth batch, reads its records, and hands it to the trainer. Made of small steps,
 * each of which either gets on or says that it can't now, so that a thread waits as it likes and a test needs no threads.
 */
export class LoaderWorker {
  private readonly pool: BlockPool;
  private readonly order: SampleOrder;
  private readonly bytes: Uint8Array;
  private step: number;
  private block: number | undefined;
  private records: Uint32Array = new Uint32Array();
  private variations: Uint32Array = new Uint32Array();
  private read = 0;

  constructor(
    private readonly memory: LoaderMemory,
    private readonly worker: number,
    private readonly plan: LoadPlan,
    private readonly source: RecordSource,
    private readonly decode: Decode,
  ) {
    this.pool = new BlockPool(memory.statusOf(worker), memory.shape.blocks);
    this.order = new SampleOrder(plan.seed, plan.records);
    this.bytes = new Uint8Array(plan.recordBytes);
    this.step = plan.firstStep + worker;
  }

  get isDone(): boolean {
    return this.step >= this.plan.steps;
  }

  /** Does one thing: begins a batch, reads a record, or hands a batch over. @returns false: it can't now. */
  advance(): boolean {
    if (this.isDone) return false;
    if (this.block === undefined) return this.begin();
    return this.read < this.plan.share ? this.readRecord(this.block) : this.handOver(this.block);
  }

  private begin(): boolean {
    const own = this.pool.tryAcquire();
    if (own === undefined) return false;
    const { share, offset, globalBatch } = this.plan;
    const from = this.step * globalBatch + offset;
    this.records = this.order.slice(from, share);
    this.variations = this.order.variations(from, share);
    this.read = 0;
    this.block = this.worker * this.memory.shape.blocks + own;
    return true;
  }

  private readRecord(block: number): boolean {
    const { recordBytes, stride } = this.plan;
    if (!this.source.tryRead((this.records[this.read] ?? 0) * stride, this.bytes)) return false;
    const into = this.memory.batch(block).subarray(this.read * recordBytes, (this.read + 1) * recordBytes);
    this.decode(this.bytes, into, this.variations[this.read]);
    this.read += 1;
    return true;
  }

  private handOver(block: number): boolean {
    const prefix = this.memory.prefix(block);
    prefix[0] = this.step;
    prefix[1] = block;
    // 0 is the empty flip-flop.
    if (!this.memory.flipFlop.tryAdd(block + 1)) return false;
    this.block = undefined;
    this.step += this.memory.shape.workers;
    return true;
  }
}
