import { loadAddon } from "./load-addon.js";
import type { DeadlockReport, LostRank, MemberProgress, NativeGpuReport, NativeWorldStatus, OtherCall } from "./native-reports.js";

/** What a rank's queues look like to JavaScript: the engine's own memory. */
export interface NativeQueueMemory {
  readonly submissions: ArrayBuffer;
  readonly completions: ArrayBuffer;
  /** Missing where they lie in a device's memory. */
  readonly counters?: ArrayBuffer;
  /** What the host asks of the rank's daemon. */
  readonly control: ArrayBuffer;
  /** One u32: engine threads that sleep. */
  readonly sleepers: ArrayBuffer;
  /** Completion slots that all ids share. */
  readonly sharedSlots: number;
  /** Whether each id has one of its own beside them. */
  readonly ownPlaces: boolean;
}

export interface NativeWorldOptions {
  readonly backend: "cpu" | "cuda";
  /** GPU of each rank; missing: by turns. */
  readonly devices?: Int32Array;
  readonly ranks: number;
  readonly grid: number;
  readonly submissionSlots: number;
  readonly completionSlots: number;
  readonly collectives: number;
  readonly tasks: number;
  readonly slotPayloadBytes: number;
  readonly directTileBytes: number;
  readonly arenaBytes: number;
  readonly workers: number;
  readonly policy: Uint8Array;
  /** Where the ranks are processes: what joinSegment() gave. */
  readonly segment?: NativeSegment;
  /** With a segment: how long another process may be silent before it is given up. */
  readonly muteMillis?: number;
}

/** Where the ranks of a world are: in this process, in processes of this machine, or of several. */
export type Span = "process" | "machine" | "machines";

/** The options in force, or by default; `policy` is encoded. */
export type NativeOptions = Pick<
  NativeWorldOptions,
  | "grid"
  | "submissionSlots"
  | "completionSlots"
  | "collectives"
  | "tasks"
  | "slotPayloadBytes"
  | "directTileBytes"
  | "arenaBytes"
  | "workers"
  | "policy"
>;

export interface NativeDefaults extends NativeOptions {
  /** One collective at a time, as NCCL does. */
  readonly inOrderPolicy: Uint8Array;
}

/** Memory that the processes of a job share; opaque. */
export type NativeSegment = { readonly nativeSegment: unique symbol };

export interface NativeLaunch {
  readonly launcher: string;
  readonly rank: number;
  readonly size: number;
  readonly job: string;
  /** "host:port" of rank 0, where the ranks are on several machines. */
  readonly address?: string;
  /** This machine's name, if somebody has given it one. */
  readonly host?: string;
}

/** Addresses, in bytes. */
export interface MemoryWindow {
  readonly begin: number;
  readonly end: number;
}

/** 128 bits. */
export interface NativeId {
  readonly high: bigint;
  readonly low: bigint;
}

export interface NativeSignature {
  readonly group: NativeId;
  readonly purpose: number;
  readonly collective: number;
  readonly dataType: number;
  readonly op: number;
  readonly root: number;
  readonly receiver: number;
  readonly count: number;
  readonly tag: bigint;
  /** Of 53 bits; 0: no counts beside its own. */
  readonly countsHash: number;
}

export interface NativeCollectiveSpec {
  /** A number of the caller's, or what signatureId() gave. */
  readonly id: number | NativeId;
  /** As signatureId() had them, where the id is of it. */
  readonly purpose?: number;
  readonly tag?: bigint;
  readonly collective: number;
  readonly dataType: number;
  readonly op: number;
  readonly count: number;
  /** Each run brings its count, none above this one. */
  readonly countPerRun?: boolean;
  readonly root: number;
  readonly scale: number;
  readonly priority: number;
  readonly ranks: Uint32Array;
  readonly program: Uint8Array;
}

/** The window of memory that other processes haven't mapped yet. */
export const unmappedWindow = 0xffff;

export interface NativePlacements {
  readonly inPlace: boolean;
  readonly outOfPlace: boolean;
  readonly needsReach: boolean;
  readonly staged: boolean;
}

/** The addon's world, 1:1 with the C++ class (native/addon/world_object.hpp). Ranks and handles are numbers. */
export interface NativeWorld {
  options(): NativeOptions;
  memory(rank: number): NativeQueueMemory;
  register(rank: number, spec: NativeCollectiveSpec): number;
  /** @param comesBack - it is forgotten for now, and its next run follows its last one. */
  unregister(rank: number, handle: number, issuedRuns: number, comesBack?: boolean): void;
  /** Runs that this rank had of a signature before it was forgotten. */
  runsBefore(rank: number, handle: number): number;
  abort(rank: number, handle: number): void;
  isAborted(rank: number, handle: number): boolean;
  isQuarantineOver(rank: number, handle: number): boolean;
  explain(rank: number, handle: number): MemberProgress[];
  /** Of a call without an id: members who have called something else with the same ranks and tag, which this rank hasn't. */
  otherCalls(rank: number, handle: number): OtherCall[];
  /** Steps all ranks until nothing moves or the time is over. */
  drive(micros: number): boolean;
  ring(): void;
  residentStay(rank: number): number;
  isStayOver(rank: number, stay: number): boolean;
  noteSynchronizing(rank: number, delta: 1 | -1): void;
  synchronize(rank: number, timeoutMicros: number): boolean;
  counters(rank: number): { readonly rank: number[]; readonly blocks: number[][] };
  memoryUse(rank?: number, handle?: number): number;
  deadlock(): DeadlockReport | null;
  /** In a world of processes: memory that the others can reach. */
  allocate(bytes: number): ArrayBuffer;
  /** At once, not when it is collected: detaches it. @throws for what allocate() of this world hasn't given. */
  free(buffer: ArrayBuffer): void;
  /** null: no other process is in this world. */
  window(): MemoryWindow | null;
  /** With a collective: those, too, of whom only others know yet and for whom it was given up. */
  lostRanks(rank?: number, handle?: number): LostRank[];
  /** The ranks that go on; null while one that lives hasn't come to the agreement. */
  agreeOnSurvivors(): number[] | null;
  /** The ranks that haven't come to it. */
  awaitedByAgreement(): number[];
  /** null: the ranks are no processes. */
  inspect(): NativeWorldStatus | null;
  /** `[rank]`: its machine; null where all are on this one. */
  hosts(): Uint32Array | null;
  /** How another rank registered it differently, where that showed only afterwards; else "". */
  whyAborted(rank: number, handle: number): string;
  /** `[member]`: the count of each in the last run in which they differed; empty where there was none. */
  mismatchedCounts(rank: number, handle: number): number[];
  /**
   * How the buffers of a collective's runs may lie, whether it must be where other processes reach it, and whether runs go another
   * way as long as others haven't mapped the buffers.
   */
  placements(rank: number, handle: number): NativePlacements;
  /** "all-reduce 7", or what its caller called: "all-reduce of 1000 float32, sum, tag 7 (ranks 0 to 3)". */
  nameOf(rank: number, handle: number): string;
  /** The rank's GPU, or -1. */
  deviceOf(rank: number): number;
  /** Zeroed memory on the rank's GPU. @returns its address. */
  allocateOnDevice(rank: number, bytes: number): number;
  /**
   * In a world of processes on GPUs: the window by which the others are told of memory, from now on.
   * @param isStaged - of runs that go another way until all have mapped it: then unmappedWindow is the answer.
   */
  windowOf(rank: number, address: number, isStaged: boolean): number;
  freeOnDevice(rank: number, address: number, bytes: number): void;
  copyIn(rank: number, address: number, from: Uint8Array): Promise<void>;
  copyOut(rank: number, to: Uint8Array, address: number): Promise<void>;
  /** Device synchronization, on a thread of Node's pool. */
  synchronizeLater(rank: number): Promise<void>;
  setWaker(wake: () => void): void;
  referenceWaker(on: boolean): void;
  close(): void;
}

type EngineRecord<T> = Readonly<Record<string, T>>;

export interface NativeAddon {
  /** @param collectives - instead of the default: what follows from it does so. */
  defaultOptions(backend: "cpu" | "cuda", ranks: number, span: Span, collectives?: number): NativeDefaults;
  gpus(): NativeGpuReport;
  readonly NativeWorld: new (options: NativeWorldOptions) => NativeWorld;
  /** Page-aligned, zeroed memory. */
  allocate(bytes: number): ArrayBuffer;
  /** null: no launcher has left its variables. */
  readLaunch(env: Readonly<Record<string, string | undefined>>): NativeLaunch | null;
  inspectWorlds(): NativeWorldStatus[];
  /** One rank's flight record: a line of JSON. */
  flightRecord(world: NativeWorldStatus, rank: number, nowMillis: number): string;
  /** Whole or not at all, in a folder that is made where there is none. */
  writeFlightRecord(path: string, record: string): void;
  /** What would carry data between machines, and its version. */
  transport(): string;
  joinSegment(
    options: NativeWorldOptions,
    meeting: {
      readonly job: string;
      readonly rank: number;
      readonly timeoutMillis: number;
      readonly address?: string | undefined;
      readonly secret?: string | undefined;
      readonly host?: string | undefined;
    },
  ): { readonly segment: Promise<NativeSegment>; readonly cancel: () => void };
  groupId(ranks: Uint32Array, name: bigint, ordinal: bigint): NativeId;
  nameOfPart(group: NativeId, split: number, colour: number): bigint;
  signatureId(signature: NativeSignature): NativeId;
  addressOf(memory: ArrayBuffer | ArrayBufferView): number;
  /** What a C caller of this collective (by code) runs on this rank; with `lanes` and no `hosts`, on GPUs with large buffers. */
  builtInProgram(collective: number, ranks: number, rank: number, root: number, hosts?: Uint32Array, lanes?: number): Uint8Array;
  /** Offsets and sizes of shared records, by record and field; in `codes`, the codes of every enumeration by name. */
  layout(): { readonly codes: EngineRecord<EngineRecord<number>> } & EngineRecord<EngineRecord<number>>;
  readonly reduceCopyKernel: string;
}

let loaded: NativeAddon | undefined;

/** @throws {AddonNotLoadedError} listing what was tried. */
export function nativeAddon(): NativeAddon {
  loaded ??= loadAddon() as NativeAddon;
  return loaded;
}
