import { byteSizeOf, checkNumber, checkObject, lookUp, readPlain } from "@dfccl/primitives";
import { dataTypeOf, type TypeName } from "./type-names.js";

/** The programs, as nccl-tests calls them, less "_perf". */
export const collectiveNames = [
  "all_reduce",
  "all_gather",
  "broadcast",
  "reduce_scatter",
  "reduce",
  "alltoall",
  "alltoallv",
  "scatter",
  "gather",
  "sendrecv",
  "hypercube",
] as const;

export type CollectiveName = (typeof collectiveNames)[number];

export function isCollectiveName(name: string): name is CollectiveName {
  return (collectiveNames as readonly string[]).includes(name);
}

interface CollectiveFacts {
  /** What nccl-tests calls it in experiment names. */
  readonly title: string;
  readonly reduces: boolean;
  readonly hasRoot: boolean;
  /** Whether the size of a row is what all ranks' parts make together, of which each rank gets a share. */
  readonly isShared: boolean;
  /** Buffers in units of a call's count, of n ranks. */
  readonly send: (ranks: number) => number;
  readonly recv: (ranks: number) => number;
  /** What the algorithm bandwidth counts, in units of a call's count. */
  readonly moved: (ranks: number) => number;
  /** Bus bandwidth over algorithm bandwidth. */
  readonly busFactor: (ranks: number) => number;
}

const one = (): number => 1;
const all = (ranks: number): number => ranks;
const others = (ranks: number): number => (ranks - 1) / ranks;
const movesOne = { send: one, recv: one, moved: one, isShared: false } as const;

const facts: Readonly<Record<CollectiveName, CollectiveFacts>> = {
  all_reduce: { ...movesOne, title: "AllReduce", reduces: true, hasRoot: false, busFactor: (n) => (2 * (n - 1)) / n },
  reduce: { ...movesOne, title: "Reduce", reduces: true, hasRoot: true, busFactor: one },
  broadcast: { ...movesOne, title: "Broadcast", reduces: false, hasRoot: true, busFactor: one },
  sendrecv: { ...movesOne, title: "SendRecv", reduces: false, hasRoot: false, busFactor: one },
  all_gather: shared("AllGather", one, all),
  hypercube: { ...shared("HyperCube", one, all), moved: (n) => n - 1, busFactor: one },
  gather: { ...shared("Gather", one, all), hasRoot: true },
  reduce_scatter: { ...shared("ReduceScatter", all, one), reduces: true },
  scatter: { ...shared("Scatter", all, one), hasRoot: true },
  alltoall: shared("AlltoAll", all, all),
  alltoallv: shared("AlltoAllv", all, all),
};

function shared(title: string, send: (ranks: number) => number, recv: (ranks: number) => number): CollectiveFacts {
  return { title, reduces: false, hasRoot: false, isShared: true, send, recv, moved: all, busFactor: others };
}

export function collectiveFacts(name: CollectiveName): CollectiveFacts {
  return lookUp(facts, "collective", name);
}

/** What one row measures. */
export interface Extent {
  /** Elements that the collective's call is given. */
  readonly count: number;
  /** As printed: the larger of a rank's two buffers. */
  readonly bytes: number;
  /** What the algorithm bandwidth counts. */
  readonly movedBytes: number;
}

/**
 * What a wanted size comes to: whole elements, and whole 16 bytes of each rank's share.
 * @param bytes - as asked for with --minbytes and its like.
 */
export function extentOf(name: CollectiveName, bytes: number, ranks: number, type: TypeName): Extent {
  checkNumber("bytes", bytes);
  checkNumber("ranks", ranks);
  const elementBytes = byteSizeOf(dataTypeOf(type));
  const elements = Math.floor(bytes / elementBytes);
  const { isShared, send, recv, moved } = collectiveFacts(name);
  const count = !isShared ? elements : name === "hypercube" ? wholeOf(elements / ranks, 4) : wholeOf(elements / ranks, 16 / elementBytes);
  if (name === "alltoallv" && ranks > 1) {
    // Rank i sends rank j (i + j) mod n units: n (n - 1) / 2 of them in all, which is what the largest rank sends.
    const unit = wholeOf((2 * count) / (ranks - 1), 16 / elementBytes);
    const largest = ((unit * ranks * (ranks - 1)) / 2) * elementBytes;
    return { count, bytes: largest, movedBytes: largest };
  }
  return {
    count,
    bytes: count * Math.max(send(ranks), recv(ranks)) * elementBytes,
    movedBytes: count * moved(ranks) * elementBytes,
  };
}

function wholeOf(value: number, unit: number): number {
  return Math.floor(value / unit) * unit;
}

export interface Bandwidth {
  /** GB/s, powers of ten. */
  readonly algorithm: number;
  readonly bus: number;
}

export function bandwidthOf(name: CollectiveName, extent: Extent, ranks: number, micros: number): Bandwidth {
  checkObject("extent", extent, "what extentOf() returns");
  const { movedBytes } = readPlain("extent", extent);
  checkNumber("extent.movedBytes", movedBytes);
  checkNumber("ranks", ranks);
  checkNumber("micros", micros);
  const algorithm = movedBytes / 1e9 / (micros / 1e6);
  return { algorithm, bus: algorithm * collectiveFacts(name).busFactor(ranks) };
}
