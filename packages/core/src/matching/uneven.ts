// The runs that uneven collectives consist of, on one rank: messages, broadcasts and reductions of segments.
import { InvalidArgumentError } from "@dfccl/primitives";
import type { CollectiveBuffer } from "../backend.js";
import { elementTypeOf, opOf, placeOf, spansOf, tagOf } from "./arguments.js";
import type { AllToAllVOptions } from "./call-options.js";
import type { Counts, DisplacementsOption, OpOption, RootOption, UnevenOptions } from "./group-api.js";
import { Parts } from "./parts.js";
import { hashOfCounts } from "./signature.js";

type Buffer = CollectiveBuffer | null | undefined;

/** Whose runs they are: a rank of a group of this size. */
interface Member {
  readonly rank: number;
  readonly size: number;
}

export function partsOfAllToAll(
  member: Member,
  send: CollectiveBuffer,
  sendCounts: Counts,
  recv: CollectiveBuffer,
  recvCounts: Counts,
  options: AllToAllVOptions,
): Parts {
  const { size, rank } = member;
  const sends = spansOf("sendCounts", sendCounts, options.sendDisplacements, size);
  const recvs = spansOf("recvCounts", recvCounts, options.recvDisplacements, size);
  if (sends[rank]?.count !== recvs[rank]?.count) {
    throw new InvalidArgumentError("recvCounts", recvCounts, `as many elements from this rank itself, ${sends[rank]?.count}, as it sends`);
  }
  const type = elementTypeOf("all-to-all-v", "send", send, options.dataType);
  const parts = new Parts("all-to-all-v", type, tagOf("tag", options.tag), 0);
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
  return parts;
}

export function partsOfAllGather(
  member: Member,
  send: CollectiveBuffer,
  recv: CollectiveBuffer,
  counts: Counts,
  options: UnevenOptions & DisplacementsOption,
): Parts {
  const { size, rank } = member;
  const spans = spansOf("counts", counts, options.displacements, size);
  const type = elementTypeOf("all-gather-v", "send", send, options.dataType);
  const parts = new Parts("all-gather-v", type, tagOf("tag", options.tag), hashOfCounts(spans));
  const own = parts.of("send", send, { begin: 0, count: spans[rank]?.count ?? 0 });
  parts.requireApart(own.buffer, recv, spans[rank]);
  for (let root = 0; root < size; root += 1) {
    parts.addCollective("broadcast", "sum", root, root === rank ? own : undefined, parts.of("recv", recv, spans[root]));
  }
  return parts;
}

export function partsOfReduceScatter(
  member: Member,
  send: CollectiveBuffer,
  recv: CollectiveBuffer,
  counts: Counts,
  options: UnevenOptions & OpOption,
): Parts {
  const { size, rank } = member;
  const spans = spansOf("counts", counts, undefined, size);
  const type = elementTypeOf("reduce-scatter-v", "recv", recv, options.dataType);
  const parts = new Parts("reduce-scatter-v", type, tagOf("tag", options.tag), hashOfCounts(spans));
  const own = parts.of("recv", recv, { begin: 0, count: spans[rank]?.count ?? 0 });
  parts.requireApart(own.buffer, send, spans[rank]);
  for (let root = 0; root < size; root += 1) {
    parts.addCollective("reduce", opOf(options.op, type), root, parts.of("send", send, spans[root]), root === rank ? own : undefined);
  }
  return parts;
}

export function partsOfGather(
  member: Member,
  send: CollectiveBuffer,
  recv: Buffer,
  counts: Counts,
  options: UnevenOptions & DisplacementsOption & RootOption,
): Parts {
  const { size, rank } = member;
  const root = placeOf("root", options.root, size);
  const spans = spansOf("counts", counts, options.displacements, size);
  const type = elementTypeOf("gather-v", "send", send, options.dataType);
  const parts = new Parts("gather-v", type, tagOf("tag", options.tag), hashOfCounts(spans));
  const own = parts.of("send", send, { begin: 0, count: spans[rank]?.count ?? 0 });
  if (rank !== root) parts.addMessage(rank, root, own, undefined);
  else {
    parts.requireApart(own.buffer, recv);
    for (let from = 0; from < size; from += 1) {
      parts.addMessage(from, root, from === rank ? own : undefined, parts.of("recv", recv, spans[from]));
    }
  }
  return parts;
}

export function partsOfScatter(
  member: Member,
  send: Buffer,
  recv: CollectiveBuffer,
  counts: Counts,
  options: UnevenOptions & DisplacementsOption & RootOption,
): Parts {
  const { size, rank } = member;
  const root = placeOf("root", options.root, size);
  const spans = spansOf("counts", counts, options.displacements, size);
  const type = elementTypeOf("scatter-v", "recv", recv, options.dataType);
  const parts = new Parts("scatter-v", type, tagOf("tag", options.tag), hashOfCounts(spans));
  const own = parts.of("recv", recv, { begin: 0, count: spans[rank]?.count ?? 0 });
  if (rank !== root) parts.addMessage(root, rank, undefined, own);
  else {
    parts.requireApart(own.buffer, send);
    for (let to = 0; to < size; to += 1) {
      parts.addMessage(root, to, parts.of("send", send, spans[to]), to === rank ? own : undefined);
    }
  }
  return parts;
}
