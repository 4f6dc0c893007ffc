import { type InspectOptions, inspect } from "node:util";
import { checkOptions } from "@dfccl/primitives";
import type { CollectiveBuffer } from "../backend.js";
import { summary } from "../summary.js";
import { checkTimeout } from "../timeout.js";
import type { AllToAllVOptions } from "./call-options.js";
import { Calls } from "./calls.js";
import type { CallOptions, Counts, DisplacementsOption, Group, IntoOption, OpOption, RootOption, UnevenOptions } from "./group-api.js";
import type { MatchedGroup } from "./matched-group.js";
import type { Call } from "./matched-run.js";
import type { Matching } from "./matching.js";
import { split } from "./split.js";

type Buffer = CollectiveBuffer | null | undefined;

/** @internal The group as its rank's side knows it; whatever else stands for one throws. */
export let matchingOf: (group: Group) => Matching;
/** @internal What its methods ask of the engine. */
export let callsOf: (group: LocalGroup) => Calls;
/** @internal */
export let isGroup: (value: unknown) => value is LocalGroup;

/** The class behind {@link Group}. */
export class LocalGroup implements Group {
  readonly rank: number;
  readonly size: number;
  readonly ranks: readonly number[];
  readonly #matching: Matching;
  readonly #group: MatchedGroup;
  readonly #calls: Calls;

  static {
    matchingOf = (group) => (group as LocalGroup).#matching;
    callsOf = (group) => group.#calls;
    isGroup = (value): value is LocalGroup => typeof value === "object" && value !== null && #group in value;
  }

  /** @internal */
  constructor(matching: Matching, group: MatchedGroup) {
    this.#matching = matching;
    this.#group = group;
    this.#calls = new Calls(group, this);
    this.rank = group.member;
    this.size = group.size;
    this.ranks = group.ranks;
    Object.freeze(this);
  }

  /** What console.log() shows. */
  [inspect.custom](_depth: number, options: InspectOptions): string {
    const { rank, size, ranks } = this;
    return summary("Group", { rank, size, ranks }, options);
  }

  async allReduce(x: CollectiveBuffer, options?: CallOptions & OpOption & IntoOption): Promise<void> {
    return this.#begin(this.#calls.allReduce(x, options));
  }

  async reduce(x: CollectiveBuffer, options?: CallOptions & OpOption & RootOption & IntoOption): Promise<void> {
    return this.#begin(this.#calls.reduce(x, options));
  }

  async broadcast(x: CollectiveBuffer, options?: CallOptions & RootOption & IntoOption): Promise<void> {
    return this.#begin(this.#calls.broadcast(x, options));
  }

  async allGather(send: CollectiveBuffer, recv: CollectiveBuffer, options?: CallOptions): Promise<void> {
    return this.#begin(this.#calls.allGather(send, recv, options));
  }

  async reduceScatter(send: CollectiveBuffer, recv: CollectiveBuffer, options?: CallOptions & OpOption): Promise<void> {
    return this.#begin(this.#calls.reduceScatter(send, recv, options));
  }

  async allToAll(send: CollectiveBuffer, recv: CollectiveBuffer, options?: CallOptions): Promise<void> {
    return this.#begin(this.#calls.allToAll(send, recv, options));
  }

  async gather(send: CollectiveBuffer, recv?: Buffer, options?: CallOptions & RootOption): Promise<void> {
    return this.#begin(this.#calls.gather(send, recv, options));
  }

  async scatter(send: Buffer, recv: CollectiveBuffer, options?: CallOptions & RootOption): Promise<void> {
    return this.#begin(this.#calls.scatter(send, recv, options));
  }

  async barrier(options?: Omit<CallOptions, "dataType" | "count">): Promise<void> {
    return this.#begin(this.#calls.barrier(options));
  }

  async send(x: CollectiveBuffer, peer: number, options?: CallOptions): Promise<void> {
    return this.#begin(this.#calls.send(x, peer, options));
  }

  async recv(x: CollectiveBuffer, peer: number, options?: CallOptions): Promise<void> {
    return this.#begin(this.#calls.recv(x, peer, options));
  }

  async recvAny(x: CollectiveBuffer, options?: CallOptions): Promise<number> {
    const call = this.#calls.recvAny(x, options);
    await this.#begin(call);
    return call.received.source as number;
  }

  async allToAllV(
    send: CollectiveBuffer,
    sendCounts: Counts,
    recv: CollectiveBuffer,
    recvCounts: Counts,
    options?: AllToAllVOptions,
  ): Promise<void> {
    return this.#begin(this.#calls.allToAllV(send, sendCounts, recv, recvCounts, options));
  }

  async allGatherV(
    send: CollectiveBuffer,
    recv: CollectiveBuffer,
    counts: Counts,
    options?: UnevenOptions & DisplacementsOption,
  ): Promise<void> {
    return this.#begin(this.#calls.allGatherV(send, recv, counts, options));
  }

  async reduceScatterV(send: CollectiveBuffer, recv: CollectiveBuffer, counts: Counts, options?: UnevenOptions & OpOption): Promise<void> {
    return this.#begin(this.#calls.reduceScatterV(send, recv, counts, options));
  }

  async gatherV(
    send: CollectiveBuffer,
    recv: Buffer,
    counts: Counts,
    options?: UnevenOptions & DisplacementsOption & RootOption,
  ): Promise<void> {
    return this.#begin(this.#calls.gatherV(send, recv, counts, options));
  }

  async scatterV(
    send: Buffer,
    recv: CollectiveBuffer,
    counts: Counts,
    options?: UnevenOptions & DisplacementsOption & RootOption,
  ): Promise<void> {
    return this.#begin(this.#calls.scatterV(send, recv, counts, options));
  }

  async split(colour: number, key = 0, options: { readonly timeoutMs?: number } = {}): Promise<Group | undefined> {
    checkOptions("options", options, { timeoutMs: true }, "an object such as { timeoutMs: 5000 }");
    checkTimeout(options.timeoutMs);
    const part = await split(this.#matching, this.#group, colour, key, options.timeoutMs);
    return part && new LocalGroup(this.#matching, part);
  }

  drop(): void {
    this.#matching.dropGroup(this.#group);
  }

  abort(): void {
    this.#matching.abortGroup(this.#group);
  }

  [Symbol.dispose](): void {
    this.drop();
  }

  #begin(call: Call): PromiseLike<void> {
    return this.#matching.begin(call);
  }
}
