import { type InspectOptions, inspect } from "node:util";
import {
  type BuildableCollective,
  checkOptions,
  type DataType,
  InvalidArgumentError,
  isReduceOp,
  type OptionNames,
  type ReduceOp,
} from "@dfccl/primitives";
import type { CollectiveBuffer } from "../backend.js";
import { BufferError } from "../errors.js";
import { summary } from "../summary.js";
import { checkTimeout } from "../timeout.js";
import { countOf, elementTypeOf, lengthOf, partOf, placeOf, spansOf, tagOf } from "./arguments.js";
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
import { Parts } from "./parts.js";
import type { Purpose, Signature } from "./signature.js";
import { split } from "./split.js";

type Buffer = CollectiveBuffer | null | undefined;
type AllToAllVOptions = UnevenOptions & { readonly sendDisplacements?: Counts; readonly recvDisplacements?: Counts };

const call = { tag: true, timeoutMs: true, group: true } as const;
const even = { ...call, dataType: true, count: true } as const;
const uneven = { ...call, dataType: true } as const;
const names = {
  barrier: call satisfies OptionNames<Omit<CallOptions, "dataType" | "count"> & InGroup>,
  plain: even satisfies OptionNames<CallOptions & InGroup>,
  allReduce: { ...even, op: true, into: true } satisfies OptionNames<CallOptions & OpOption & IntoOption & InGroup>,
  reduce: { ...even, op: true, root: true, into: true } satisfies OptionNames<CallOptions & OpOption & RootOption & IntoOption & InGroup>,
  broadcast: { ...even, root: true, into: true } satisfies OptionNames<CallOptions & RootOption & IntoOption & InGroup>,
  combining: { ...even, op: true } satisfies OptionNames<CallOptions & OpOption & InGroup>,
  rooted: { ...even, root: true } satisfies OptionNames<CallOptions & RootOption & InGroup>,
  allToAllV: { ...uneven, sendDisplacements: true, recvDisplacements: true } satisfies OptionNames<AllToAllVOptions & InGroup>,
  allGatherV: { ...uneven, displacements: true } satisfies OptionNames<UnevenOptions & DisplacementsOption & InGroup>,
  reduceScatterV: { ...uneven, op: true } satisfies OptionNames<UnevenOptions & OpOption & InGroup>,
  rootedV: { ...uneven, displacements: true, root: true } satisfies OptionNames<UnevenOptions & DisplacementsOption & RootOption & InGroup>,
};

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
    this.#check(options, names.allReduce);
    const { op, tag, dataType, count, into = x, timeoutMs } = options;
    const type = elementTypeOf("all-reduce", "send", x, dataType);
    return this.#run("all-reduce", type, opOf(op), 0, countOf(count, lengthOf("all-reduce", "send", x)), tag, x, into, timeoutMs);
  }

  async reduce(x: CollectiveBuffer, options: CallOptions & OpOption & RootOption & IntoOption = none): Promise<void> {
    this.#check(options, names.reduce);
    const { op, root, tag, dataType, count, into = x, timeoutMs } = options;
    const place = placeOf("root", root, this.size);
    const type = elementTypeOf("reduce", "send", x, dataType);
    const recv = place === this.rank ? into : undefined;
    return this.#run("reduce", type, opOf(op), place, countOf(count, lengthOf("reduce", "send", x)), tag, x, recv, timeoutMs);
  }

  async broadcast(x: CollectiveBuffer, options: CallOptions & RootOption & IntoOption = none): Promise<void> {
    this.#check(options, names.broadcast);
    const { root, tag, dataType, count, into = x, timeoutMs } = options;
    const place = placeOf("root", root, this.size);
    const type = elementTypeOf("broadcast", "recv", x, dataType);
    const send = place === this.rank ? x : undefined;
    return this.#run("broadcast", type, "sum", place, countOf(count, lengthOf("broadcast", "recv", x)), tag, send, into, timeoutMs);
  }

  async allGather(send: CollectiveBuffer, recv: CollectiveBuffer, options: CallOptions = none): Promise<void> {
    this.#check(options, names.plain);
    const { tag, dataType, count, timeoutMs } = options;
    const type = elementTypeOf("all-gather", "send", send, dataType);
    return this.#run("all-gather", type, "sum", 0, countOf(count, lengthOf("all-gather", "send", send)), tag, send, recv, timeoutMs);
  }

  async reduceScatter(send: CollectiveBuffer, recv: CollectiveBuffer, options: CallOptions & OpOption = none): Promise<void> {
    this.#check(options, names.combining);
    const { op, tag, dataType, count, timeoutMs } = options;
    const type = elementTypeOf("reduce-scatter", "recv", recv, dataType);
    const elements = countOf(count, lengthOf("reduce-scatter", "recv", recv));
    return this.#run("reduce-scatter", type, opOf(op), 0, elements, tag, send, recv, timeoutMs);
  }

  async allToAll(send: CollectiveBuffer, recv: CollectiveBuffer, options: CallOptions = none): Promise<void> {
    this.#check(options, names.plain);
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
    this.#check(options, names.rooted);
    const { root, tag, dataType, count, timeoutMs } = options;
    const place = placeOf("root", root, this.size);
    const type = elementTypeOf("gather", "send", send, dataType);
    const into = place === this.rank ? recv : undefined;
    return this.#run("gather", type, "sum", place, countOf(count, lengthOf("gather", "send", send)), tag, send, into, timeoutMs);
  }

  async scatter(send: Buffer, recv: CollectiveBuffer, options: CallOptions & RootOption = none): Promise<void> {
    this.#check(options, names.rooted);
    const { root, tag, dataType, count, timeoutMs } = options;
    const place = placeOf("root", root, this.size);
    const type = elementTypeOf("scatter", "recv", recv, dataType);
    const from = place === this.rank ? send : undefined;
    return this.#run("scatter", type, "sum", place, countOf(count, lengthOf("scatter", "recv", recv)), tag, from, recv, timeoutMs);
  }

  async barrier(options: Omit<CallOptions, "dataType" | "count"> = none): Promise<void> {
    this.#check(options, names.barrier);
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
    this.#check(options, names.allToAllV);
    const { size, rank } = this;
    const sends = spansOf("sendCounts", sendCounts, options.sendDisplacements, size);
    const recvs = spansOf("recvCounts", recvCounts, options.recvDisplacements, size);
    if (sends[rank]?.count !== recvs[rank]?.count) {
      throw new InvalidArgumentError(
        "recvCounts",
        recvCounts,
        `as many elements from this rank itself, ${sends[rank]?.count}, as it sends`,
      );
    }
    const type = elementTypeOf("all-to-all-v", "send", send, options.dataType);
    const parts = this.#parts("all-to-all-v", type, options);
    parts.requireApart(send, recv);
    // Each begins with its neighbour, so that not all send to the same at once.
    for (let distance = 0; distance < size; distance += 1) {
      const [to, from] = [(rank + distance) % size, (rank + size - distance) % size];
      const [out, back] = [parts.of("send", send, sends[to]), parts.of("recv", recv, recvs[from])];
      if (distance === 0) parts.addMessage(rank, rank, out, back);
      else {
        parts.addMessage(rank, to, out, undefined);
        parts.addMessage(from, rank, undefined, back);
      }
    }
    return this.#runAll(parts, options);
  }

  async allGatherV(
    send: CollectiveBuffer,
    recv: CollectiveBuffer,
    counts: Counts,
    options: UnevenOptions & DisplacementsOption = none,
  ): Promise<void> {
    this.#check(options, names.allGatherV);
    const { size, rank } = this;
    const spans = spansOf("counts", counts, options.displacements, size);
    const type = elementTypeOf("all-gather-v", "send", send, options.dataType);
    const parts = this.#parts("all-gather-v", type, options);
    const own = parts.of("send", send, { begin: 0, count: spans[rank]?.count ?? 0 });
    parts.requireApart(own.buffer, recv, spans[rank]);
    for (let root = 0; root < size; root += 1) {
      parts.addCollective("broadcast", "sum", root, root === rank ? own : undefined, parts.of("recv", recv, spans[root]));
    }
    return this.#runAll(parts, options);
  }

  async reduceScatterV(
    send: CollectiveBuffer,
    recv: CollectiveBuffer,
    counts: Counts,
    options: UnevenOptions & OpOption = none,
  ): Promise<void> {
    this.#check(options, names.reduceScatterV);
    const { size, rank } = this;
    const spans = spansOf("counts", counts, undefined, size);
    const type = elementTypeOf("reduce-scatter-v", "recv", recv, options.dataType);
    const parts = this.#parts("reduce-scatter-v", type, options);
    const own = parts.of("recv", recv, { begin: 0, count: spans[rank]?.count ?? 0 });
    parts.requireApart(own.buffer, send, spans[rank]);
    for (let root = 0; root < size; root += 1) {
      parts.addCollective("reduce", opOf(options.op), root, parts.of("send", send, spans[root]), root === rank ? own : undefined);
    }
    return this.#runAll(parts, options);
  }

  async gatherV(
    send: CollectiveBuffer,
    recv: Buffer,
    counts: Counts,
    options: UnevenOptions & DisplacementsOption & RootOption = none,
  ): Promise<void> {
    this.#check(options, names.rootedV);
    const { size, rank } = this;
    const root = placeOf("root", options.root, size);
    const spans = spansOf("counts", counts, options.displacements, size);
    const type = elementTypeOf("gather-v", "send", send, options.dataType);
    const parts = this.#parts("gather-v", type, options);
    const own = parts.of("send", send, { begin: 0, count: spans[rank]?.count ?? 0 });
    if (rank !== root) parts.addMessage(rank, root, own, undefined);
    else {
      parts.requireApart(own.buffer, recv);
      for (let from = 0; from < size; from += 1) {
        parts.addMessage(from, root, from === rank ? own : undefined, parts.of("recv", recv, spans[from]));
      }
    }
    return this.#runAll(parts, options);
  }

  async scatterV(
    send: Buffer,
    recv: CollectiveBuffer,
    counts: Counts,
    options: UnevenOptions & DisplacementsOption & RootOption = none,
  ): Promise<void> {
    this.#check(options, names.rootedV);
    const { size, rank } = this;
    const root = placeOf("root", options.root, size);
    const spans = spansOf("counts", counts, options.displacements, size);
    const type = elementTypeOf("scatter-v", "recv", recv, options.dataType);
    const parts = this.#parts("scatter-v", type, options);
    const own = parts.of("recv", recv, { begin: 0, count: spans[rank]?.count ?? 0 });
    if (rank !== root) parts.addMessage(root, rank, undefined, own);
    else {
      parts.requireApart(own.buffer, send);
      for (let to = 0; to < size; to += 1) {
        parts.addMessage(root, to, parts.of("send", send, spans[to]), to === rank ? own : undefined);
      }
    }
    return this.#runAll(parts, options);
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
    this.#check(options, names.plain);
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

  #parts(purpose: Purpose, dataType: DataType, { tag }: UnevenOptions): Parts {
    return new Parts(purpose, dataType, tagOf("tag", tag));
  }

  #runAll({ runs }: Parts, { timeoutMs }: UnevenOptions): PromiseLike<void> {
    return this.#matching.runAll(this.#group, runs, timeoutMs);
  }
}

/** @throws {InvalidArgumentError} */
function opOf(op: ReduceOp | undefined): ReduceOp {
  if (op === undefined) return "sum";
  if (isReduceOp(op) && op !== "scaled-sum") return op;
  const expected =
    op === "scaled-sum" ? "another operator, or register() the collective, with this rank's scale" : 'a reduction operator such as "sum"';
  throw new InvalidArgumentError("op", op, expected);
}
