import { type InspectOptions, inspect } from "node:util";
import {
  type BuildableCollective,
  checkOptions,
  type DataType,
  InvalidArgumentError,
  type OptionNames,
  type ReduceOp,
} from "@dfccl/primitives";
import type { CollectiveBuffer } from "../backend.js";
import { BufferError } from "../errors.js";
import { summary } from "../summary.js";
import { checkTimeout } from "../timeout.js";
import { countOf, elementTypeOf, lengthOf, opOf, partOf, placeOf, tagOf } from "./arguments.js";
import { type AllToAllVOptions, callOptions } from "./call-options.js";
import type {
  CallOptions,
  Counts,
  DisplacementsOption,
  Group,
  InGroup,
  IntoOption,
  OpOption,
  RootOption,
  Tag,
  UnevenOptions,
} from "./group-api.js";
import type { MatchedGroup } from "./matched-group.js";
import type { Matching } from "./matching.js";
import type { Parts } from "./parts.js";
import type { Signature } from "./signature.js";
import { split } from "./split.js";
import { partsOfAllGather, partsOfAllToAll, partsOfGather, partsOfReduceScatter, partsOfScatter } from "./uneven.js";

type Buffer = CollectiveBuffer | null | undefined;

const none: CallOptions = {};

/** @internal The group as its rank's side knows it; whatever else stands for one throws. */
export let matchingOf: (group: Group) => Matching;
/** @internal */
export let isGroup: (value: unknown) => value is Group;

/** The class behind {@link Group}. */
export class LocalGroup implements Group {
  readonly rank: number;
  readonly size: number;
  readonly ranks: readonly number[];
  readonly #matching: Matching;
  readonly #group: MatchedGroup;

  static {
    matchingOf = (group) => (group as LocalGroup).#matching;
    isGroup = (value): value is LocalGroup => typeof value === "object" && value !== null && #group in value;
  }

  /** @internal */
  constructor(matching: Matching, group: MatchedGroup) {
    this.#matching = matching;
    this.#group = group;
    this.rank = group.member;
    this.size = group.size;
    this.ranks = group.ranks;
  }

  /** What console.log() shows. */
  [inspect.custom](_depth: number, options: InspectOptions): string {
    const { rank, size, ranks } = this;
    return summary("Group", { rank, size, ranks }, options);
  }

  async allReduce(x: CollectiveBuffer, options: CallOptions & OpOption & IntoOption = none): Promise<void> {
    this.#check(options, callOptions.allReduce);
    const { op, tag, dataType, count, into = x, timeoutMs } = options;
    const type = elementTypeOf("all-reduce", "send", x, dataType);
    return this.#run("all-reduce", type, opOf(op), 0, countOf(count, lengthOf("all-reduce", "send", x)), tag, x, into, timeoutMs);
  }

  async reduce(x: CollectiveBuffer, options: CallOptions & OpOption & RootOption & IntoOption = none): Promise<void> {
    this.#check(options, callOptions.reduce);
    const { op, root, tag, dataType, count, into = x, timeoutMs } = options;
    const place = placeOf("root", root, this.size);
    const type = elementTypeOf("reduce", "send", x, dataType);
    const recv = place === this.rank ? into : undefined;
    return this.#run("reduce", type, opOf(op), place, countOf(count, lengthOf("reduce", "send", x)), tag, x, recv, timeoutMs);
  }

  async broadcast(x: CollectiveBuffer, options: CallOptions & RootOption & IntoOption = none): Promise<void> {
    this.#check(options, callOptions.broadcast);
    const { root, tag, dataType, count, into = x, timeoutMs } = options;
    const place = placeOf("root", root, this.size);
    const type = elementTypeOf("broadcast", "recv", x, dataType);
    const send = place === this.rank ? x : undefined;
    return this.#run("broadcast", type, "sum", place, countOf(count, lengthOf("broadcast", "recv", x)), tag, send, into, timeoutMs);
  }

  async allGather(send: CollectiveBuffer, recv: CollectiveBuffer, options: CallOptions = none): Promise<void> {
    this.#check(options, callOptions.plain);
    const { tag, dataType, count, timeoutMs } = options;
    const type = elementTypeOf("all-gather", "send", send, dataType);
    return this.#run("all-gather", type, "sum", 0, countOf(count, lengthOf("all-gather", "send", send)), tag, send, recv, timeoutMs);
  }

  async reduceScatter(send: CollectiveBuffer, recv: CollectiveBuffer, options: CallOptions & OpOption = none): Promise<void> {
    this.#check(options, callOptions.combining);
    const { op, tag, dataType, count, timeoutMs } = options;
    const type = elementTypeOf("reduce-scatter", "recv", recv, dataType);
    const elements = countOf(count, lengthOf("reduce-scatter", "recv", recv));
    return this.#run("reduce-scatter", type, opOf(op), 0, elements, tag, send, recv, timeoutMs);
  }

  async allToAll(send: CollectiveBuffer, recv: CollectiveBuffer, options: CallOptions = none): Promise<void> {
    this.#check(options, callOptions.plain);
    const { tag, dataType, count, timeoutMs } = options;
    const type = elementTypeOf("all-to-all", "send", send, dataType);
    const length = lengthOf("all-to-all", "send", send);
    if (count === undefined && length % this.size !== 0) {
      const problem = `has ${length} elements, which ${this.size} ranks can't share evenly`;
      throw new BufferError("all-to-all", "send", problem, "Pass a multiple, say the count, or use allToAllV().", { length });
    }
    return this.#run("all-to-all", type, "sum", 0, countOf(count, length / this.size), tag, send, recv, timeoutMs);
  }

  async gather(send: CollectiveBuffer, recv?: Buffer, options: CallOptions & RootOption = none): Promise<void> {
    this.#check(options, callOptions.rooted);
    const { root, tag, dataType, count, timeoutMs } = options;
    const place = placeOf("root", root, this.size);
    const type = elementTypeOf("gather", "send", send, dataType);
    const into = place === this.rank ? recv : undefined;
    return this.#run("gather", type, "sum", place, countOf(count, lengthOf("gather", "send", send)), tag, send, into, timeoutMs);
  }

  async scatter(send: Buffer, recv: CollectiveBuffer, options: CallOptions & RootOption = none): Promise<void> {
    this.#check(options, callOptions.rooted);
    const { root, tag, dataType, count, timeoutMs } = options;
    const place = placeOf("root", root, this.size);
    const type = elementTypeOf("scatter", "recv", recv, dataType);
    const from = place === this.rank ? send : undefined;
    return this.#run("scatter", type, "sum", place, countOf(count, lengthOf("scatter", "recv", recv)), tag, from, recv, timeoutMs);
  }

  async barrier(options: Omit<CallOptions, "dataType" | "count"> = none): Promise<void> {
    this.#check(options, callOptions.barrier);
    return this.#run("barrier", "uint8", "sum", 0, 0, options.tag, undefined, undefined, options.timeoutMs);
  }

  async send(x: CollectiveBuffer, peer: number, options: CallOptions = none): Promise<void> {
    return this.#message(true, x, peer, options);
  }

  async recv(x: CollectiveBuffer, peer: number, options: CallOptions = none): Promise<void> {
    return this.#message(false, x, peer, options);
  }

  async allToAllV(
    send: CollectiveBuffer,
    sendCounts: Counts,
    recv: CollectiveBuffer,
    recvCounts: Counts,
    options: AllToAllVOptions = none,
  ): Promise<void> {
    this.#check(options, callOptions.allToAllV);
    return this.#runAll(partsOfAllToAll(this, send, sendCounts, recv, recvCounts, options), options);
  }

  async allGatherV(
    send: CollectiveBuffer,
    recv: CollectiveBuffer,
    counts: Counts,
    options: UnevenOptions & DisplacementsOption = none,
  ): Promise<void> {
    this.#check(options, callOptions.allGatherV);
    return this.#runAll(partsOfAllGather(this, send, recv, counts, options), options);
  }

  async reduceScatterV(
    send: CollectiveBuffer,
    recv: CollectiveBuffer,
    counts: Counts,
    options: UnevenOptions & OpOption = none,
  ): Promise<void> {
    this.#check(options, callOptions.reduceScatterV);
    return this.#runAll(partsOfReduceScatter(this, send, recv, counts, options), options);
  }

  async gatherV(
    send: CollectiveBuffer,
    recv: Buffer,
    counts: Counts,
    options: UnevenOptions & DisplacementsOption & RootOption = none,
  ): Promise<void> {
    this.#check(options, callOptions.rootedV);
    return this.#runAll(partsOfGather(this, send, recv, counts, options), options);
  }

  async scatterV(
    send: Buffer,
    recv: CollectiveBuffer,
    counts: Counts,
    options: UnevenOptions & DisplacementsOption & RootOption = none,
  ): Promise<void> {
    this.#check(options, callOptions.rootedV);
    return this.#runAll(partsOfScatter(this, send, recv, counts, options), options);
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

  #check<T extends CallOptions>(options: T, known: OptionNames<T & InGroup>): void {
    if (options === none) return;
    checkOptions<T & InGroup>("options", options, known, "an object such as { tag: 7 }");
    checkTimeout(options.timeoutMs);
    const { group } = options as InGroup;
    if (group !== undefined && group !== this)
      throw new InvalidArgumentError("group", group, "to a rank's method a group that this rank made; a group's methods are its own");
  }

  #run(
    collective: BuildableCollective,
    dataType: DataType,
    op: ReduceOp,
    root: number,
    count: number,
    tag: Tag | undefined,
    send: Buffer,
    recv: Buffer,
    timeoutMs: number | undefined,
  ): PromiseLike<void> {
    const signature: Signature = { purpose: "collective", collective, dataType, op, root, receiver: 0, count, tag: tagOf("tag", tag) };
    return this.#matching.run(this.#group, signature, send, recv, timeoutMs);
  }

  #message(isSend: boolean, x: CollectiveBuffer, peer: number, options: CallOptions): PromiseLike<void> {
    this.#check(options, callOptions.plain);
    const [name, which] = isSend ? (["send", "send"] as const) : (["recv", "recv"] as const);
    const other = placeOf("peer", peer, this.size);
    const dataType = elementTypeOf(name, which, x, options.dataType);
    const signature: Signature = {
      purpose: "point-to-point",
      collective: "send-recv",
      dataType,
      op: "sum",
      root: isSend ? this.rank : other,
      receiver: isSend ? other : this.rank,
      count: countOf(options.count, lengthOf(name, which, x)),
      tag: tagOf("tag", options.tag),
    };
    if (other !== this.rank) {
      return this.#matching.run(this.#group, signature, isSend ? x : undefined, isSend ? undefined : x, options.timeoutMs);
    }
    const buffer = partOf(name, which, x, dataType, 0, signature.count);
    return this.#matching.runHalf(this.#group, signature, isSend, buffer, options.timeoutMs);
  }

  #runAll({ runs }: Parts, { timeoutMs }: UnevenOptions): PromiseLike<void> {
    return this.#matching.runAll(this.#group, runs, timeoutMs);
  }
}
