// What the methods of groups ask of the engine: their arguments, checked, become runs.
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
  Received,
  RootOption,
  Tag,
  UnevenOptions,
} from "./group-api.js";
import type { MatchedGroup } from "./matched-group.js";
import type { Call } from "./matched-run.js";
import type { Parts } from "./parts.js";
import type { Signature } from "./signature.js";
import { partsOfAllGather, partsOfAllToAll, partsOfGather, partsOfReduceScatter, partsOfScatter } from "./uneven.js";

type Buffer = CollectiveBuffer | null | undefined;

export const noCallOptions: CallOptions = {};

/** Of one group; the methods are those of {@link Collectives}. */
export class Calls {
  readonly rank: number;
  readonly size: number;

  constructor(
    private readonly group: MatchedGroup,
    /** Whose calls these are, for the user. */
    private readonly owner: Group,
  ) {
    this.rank = group.member;
    this.size = group.size;
  }

  allReduce(x: CollectiveBuffer, options: CallOptions & OpOption & IntoOption = noCallOptions): Call {
    this.#check(options, callOptions.allReduce);
    const { op, tag, dataType, count, into = x, timeoutMs } = options;
    const type = elementTypeOf("all-reduce", "send", x, dataType);
    return this.#run("all-reduce", type, opOf(op, type), 0, countOf(count, lengthOf("all-reduce", "send", x)), tag, x, into, timeoutMs);
  }

  reduce(x: CollectiveBuffer, options: CallOptions & OpOption & RootOption & IntoOption = noCallOptions): Call {
    this.#check(options, callOptions.reduce);
    const { op, root, tag, dataType, count, into = x, timeoutMs } = options;
    const place = placeOf("root", root, this.size);
    const type = elementTypeOf("reduce", "send", x, dataType);
    const recv = place === this.rank ? into : undefined;
    return this.#run("reduce", type, opOf(op, type), place, countOf(count, lengthOf("reduce", "send", x)), tag, x, recv, timeoutMs);
  }

  broadcast(x: CollectiveBuffer, options: CallOptions & RootOption & IntoOption = noCallOptions): Call {
    this.#check(options, callOptions.broadcast);
    const { root, tag, dataType, count, into = x, timeoutMs } = options;
    const place = placeOf("root", root, this.size);
    const type = elementTypeOf("broadcast", "recv", x, dataType);
    const send = place === this.rank ? x : undefined;
    return this.#run("broadcast", type, "sum", place, countOf(count, lengthOf("broadcast", "recv", x)), tag, send, into, timeoutMs);
  }

  allGather(send: CollectiveBuffer, recv: CollectiveBuffer, options: CallOptions = noCallOptions): Call {
    this.#check(options, callOptions.plain);
    const { tag, dataType, count, timeoutMs } = options;
    const type = elementTypeOf("all-gather", "send", send, dataType);
    return this.#run("all-gather", type, "sum", 0, countOf(count, lengthOf("all-gather", "send", send)), tag, send, recv, timeoutMs);
  }

  reduceScatter(send: CollectiveBuffer, recv: CollectiveBuffer, options: CallOptions & OpOption = noCallOptions): Call {
    this.#check(options, callOptions.combining);
    const { op, tag, dataType, count, timeoutMs } = options;
    const type = elementTypeOf("reduce-scatter", "recv", recv, dataType);
    const elements = countOf(count, lengthOf("reduce-scatter", "recv", recv));
    return this.#run("reduce-scatter", type, opOf(op, type), 0, elements, tag, send, recv, timeoutMs);
  }

  allToAll(send: CollectiveBuffer, recv: CollectiveBuffer, options: CallOptions = noCallOptions): Call {
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

  gather(send: CollectiveBuffer, recv?: Buffer, options: CallOptions & RootOption = noCallOptions): Call {
    this.#check(options, callOptions.rooted);
    const { root, tag, dataType, count, timeoutMs } = options;
    const place = placeOf("root", root, this.size);
    const type = elementTypeOf("gather", "send", send, dataType);
    const into = place === this.rank ? recv : undefined;
    return this.#run("gather", type, "sum", place, countOf(count, lengthOf("gather", "send", send)), tag, send, into, timeoutMs);
  }

  scatter(send: Buffer, recv: CollectiveBuffer, options: CallOptions & RootOption = noCallOptions): Call {
    this.#check(options, callOptions.rooted);
    const { root, tag, dataType, count, timeoutMs } = options;
    const place = placeOf("root", root, this.size);
    const type = elementTypeOf("scatter", "recv", recv, dataType);
    const from = place === this.rank ? send : undefined;
    return this.#run("scatter", type, "sum", place, countOf(count, lengthOf("scatter", "recv", recv)), tag, from, recv, timeoutMs);
  }

  barrier(options: Omit<CallOptions, "dataType" | "count"> = noCallOptions): Call {
    this.#check(options, callOptions.barrier);
    return this.#run("barrier", "uint8", "sum", 0, 0, options.tag, undefined, undefined, options.timeoutMs);
  }

  send(x: CollectiveBuffer, peer: number, options: CallOptions = noCallOptions): Call {
    return this.#message(true, x, peer, options);
  }

  recv(x: CollectiveBuffer, peer: number, options: CallOptions = noCallOptions): Call {
    return this.#message(false, x, peer, options);
  }

  recvAny(x: CollectiveBuffer, options: CallOptions = noCallOptions): Call & { readonly received: Received } {
    this.#check(options, callOptions.plain);
    const dataType = elementTypeOf("recv", "recv", x, options.dataType);
    const count = countOf(options.count, lengthOf("recv", "recv", x));
    // Until somebody has sent, the next member stands for the sender.
    const root = (this.rank + 1) % this.size;
    const signature = messageSignature(dataType, root, this.rank, count, options.tag);
    const received: { source: number | undefined } = { source: undefined };
    const recv = partOf("recv", "recv", x, dataType, 0, count);
    return { group: this.group, runs: [{ signature, send: undefined, recv, received }], timeoutMs: options.timeoutMs, received };
  }

  allToAllV(
    send: CollectiveBuffer,
    sendCounts: Counts,
    recv: CollectiveBuffer,
    recvCounts: Counts,
    options: AllToAllVOptions = noCallOptions,
  ): Call {
    this.#check(options, callOptions.allToAllV);
    return this.#all(partsOfAllToAll(this, send, sendCounts, recv, recvCounts, options), options);
  }

  allGatherV(
    send: CollectiveBuffer,
    recv: CollectiveBuffer,
    counts: Counts,
    options: UnevenOptions & DisplacementsOption = noCallOptions,
  ): Call {
    this.#check(options, callOptions.allGatherV);
    return this.#all(partsOfAllGather(this, send, recv, counts, options), options);
  }

  reduceScatterV(send: CollectiveBuffer, recv: CollectiveBuffer, counts: Counts, options: UnevenOptions & OpOption = noCallOptions): Call {
    this.#check(options, callOptions.reduceScatterV);
    return this.#all(partsOfReduceScatter(this, send, recv, counts, options), options);
  }

  gatherV(
    send: CollectiveBuffer,
    recv: Buffer,
    counts: Counts,
    options: UnevenOptions & DisplacementsOption & RootOption = noCallOptions,
  ): Call {
    this.#check(options, callOptions.rootedV);
    return this.#all(partsOfGather(this, send, recv, counts, options), options);
  }

  scatterV(
    send: Buffer,
    recv: CollectiveBuffer,
    counts: Counts,
    options: UnevenOptions & DisplacementsOption & RootOption = noCallOptions,
  ): Call {
    this.#check(options, callOptions.rootedV);
    return this.#all(partsOfScatter(this, send, recv, counts, options), options);
  }

  #check<T extends CallOptions>(options: T, known: OptionNames<T & InGroup>): void {
    if (options === noCallOptions) return;
    checkOptions<T & InGroup>("options", options, known, "an object such as { tag: 7 }");
    checkTimeout(options.timeoutMs);
    const { group } = options as InGroup;
    if (group !== undefined && group !== this.owner)
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
  ): Call {
    const signature: Signature = {
      purpose: "collective",
      collective,
      dataType,
      op,
      root,
      receiver: 0,
      count,
      tag: tagOf("tag", tag),
      countsHash: 0,
    };
    return { group: this.group, runs: [{ signature, send, recv }], timeoutMs };
  }

  #message(isSend: boolean, x: CollectiveBuffer, peer: number, options: CallOptions): Call {
    this.#check(options, callOptions.plain);
    const [name, which] = isSend ? (["send", "send"] as const) : (["recv", "recv"] as const);
    const other = placeOf("peer", peer, this.size);
    const dataType = elementTypeOf(name, which, x, options.dataType);
    const [from, to] = isSend ? [this.rank, other] : [other, this.rank];
    const signature = messageSignature(dataType, from, to, countOf(options.count, lengthOf(name, which, x)), options.tag);
    const half = other === this.rank ? (isSend ? "send" : "recv") : undefined;
    // One that waits for its other half is checked now.
    const buffer = half === undefined ? x : partOf(name, which, x, dataType, 0, signature.count);
    const [send, recv] = isSend ? [buffer, undefined] : [undefined, buffer];
    return { group: this.group, runs: [{ signature, send, recv, half }], timeoutMs: options.timeoutMs };
  }

  #all({ runs }: Parts, { timeoutMs }: UnevenOptions): Call {
    return { group: this.group, runs, timeoutMs };
  }
}

function messageSignature(dataType: DataType, root: number, receiver: number, count: number, tag: Tag | undefined): Signature {
  return {
    purpose: "point-to-point",
    collective: "send-recv",
    dataType,
    op: "sum",
    root,
    receiver,
    count,
    tag: tagOf("tag", tag),
    countsHash: 0,
  };
}
