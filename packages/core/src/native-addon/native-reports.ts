// What the addon tells of worlds, of who is missing, and of GPUs. Plain objects.

/** One rank's part in a collective, as others see it. */
export interface NativeMemberStatus {
  readonly rank: number;
  readonly registered: boolean;
  /** It has unregistered the collective. */
  readonly left: boolean;
  readonly submitted: number;
  readonly finished: number;
  /** How long its current run has been under way, to a tenth of a second; 0: none is. */
  readonly waitingMs: number;
}

export interface NativeWorldStatus {
  readonly job: string;
  readonly version: string;
  /** Memory that the processes share, in use. */
  readonly memoryBytes: number;
  readonly ranks: readonly { readonly rank: number; readonly pid: number; readonly presence: "absent" | "joined" | LostRank["presence"] }[];
  readonly collectives: readonly {
    /** Of a collective that was called without one, a number that stands for the call. */
    readonly id: number;
    /** "all-reduce 7", or the call: "all-reduce of 1000 float32, sum, tag 7 (ranks 0 to 3)". */
    readonly name: string;
    readonly collective: string;
    readonly dataType: string;
    readonly count: number;
    readonly aborted: boolean;
    readonly members: readonly NativeMemberStatus[];
  }[];
}

/** A rank that is gone, and what became of it. */
export interface LostRank {
  readonly rank: number;
  readonly presence: "died" | "left" | "mute";
}

/** What a rank has called without an id that another one hasn't, and how it differs from what that one waits for. */
export interface OtherCall {
  readonly rank: number;
  /** "count 999, not 1000" */
  readonly difference: string;
}

export interface MemberProgress {
  readonly rank: number;
  readonly registered: boolean;
  readonly submitted: number;
  readonly finished: number;
}

export interface DeadlockNode {
  readonly rank: number;
  /** Of a collective that was called without one, a number that stands for the call. */
  readonly id: number;
  /** "all-reduce 7", or the call: "all-reduce of 1000 float32, sum, tag 7 (ranks 0 to 3)". */
  readonly name: string;
  readonly run: number;
  readonly state: "executing" | "queued" | "not submitted";
}

/** A cycle of ranks and collectives, each waiting for the next, the last for the first. */
export interface DeadlockReport {
  readonly text: string;
  readonly cycle: readonly DeadlockNode[];
}

export interface GpuDevice {
  readonly number: number;
  readonly name: string;
  readonly pciAddress: string;
  readonly computeCapability: string;
  readonly multiprocessors: number;
  readonly memoryBytes: number;
  /** Whether a read-modify-write of host memory is atomic against the CPU. */
  readonly hostNativeAtomics: boolean;
}

/** From one device's point of view. */
export interface GpuLink {
  readonly from: number;
  readonly to: number;
  /** Reads and writes the other's memory. */
  readonly canAccess: boolean;
  readonly nativeAtomics: boolean;
  /** NVLinks that it reaches the other over; 0: PCIe; -1: unknown. */
  readonly nvlinks: number;
}

export interface NativeGpuReport {
  /** Whether this addon has the GPU engine. */
  readonly isBuilt: boolean;
  /** CUDA that the driver speaks (13000 is 13.0); 0: no driver. */
  readonly driverVersion: number;
  /** CUDA that the addon was built with; 0: without. */
  readonly runtimeVersion: number;
  /** Of the driver itself; "" if unknown. */
  readonly driverModule: string;
  readonly devices: readonly GpuDevice[];
  readonly links: readonly GpuLink[];
  readonly obstacle: Error | null;
}
