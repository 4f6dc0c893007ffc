import type { Backend } from "./backend.js";
import { CompletionPump, type PumpedRank } from "./completion-pump.js";
import { ClosedError } from "./errors.js";
import { callNative } from "./native-addon/native-error.js";
import { type MemoryWindow, type NativeWorld, type NativeWorldOptions, nativeAddon } from "./native-addon/native-world.js";
import { FlightRecorder } from "./processes/flight-recorder.js";

export interface EngineOptions {
  readonly inOrder: boolean;
  /** Whether some ranks are other processes. */
  readonly isJoined: boolean;
  /** Where this rank's flight record goes. */
  readonly flightRecord?: { readonly prefix: string; readonly rank: number } | undefined;
}

/**
 * What the objects of one world share. Those that users hold keep it in private fields: whoever got hold of it could have the
 * engine write anywhere.
 */
export class Engine {
  readonly backend: Backend;
  /** Ranks of the world, those of other processes included. */
  readonly size: number;
  /** Of the world, ascending. */
  readonly allRanks: readonly number[];
  /** Collectives that a rank has places for. */
  readonly collectives: number;
  readonly native: NativeWorld;
  /** Addresses that the other processes can reach; undefined where there is no other process. */
  readonly window: MemoryWindow | undefined;
  readonly isJoined: boolean;
  /** This process's ranks. */
  readonly ranks: PumpedRank[] = [];
  readonly pump: CompletionPump;
  readonly flightRecorder: FlightRecorder | undefined;
  isOpen = true;
  /** `[rank]`: its machine; undefined where all are on this one. */
  private readonly hosts: Uint32Array | undefined;

  constructor(options: NativeWorldOptions, { inOrder, isJoined, flightRecord }: EngineOptions) {
    this.backend = options.backend;
    this.size = options.ranks;
    this.allRanks = Object.freeze(Array.from({ length: options.ranks }, (_, rank) => rank));
    this.collectives = options.collectives;
    this.native = callNative(() => new (nativeAddon().NativeWorld)(options));
    this.window = this.native.window() ?? undefined;
    this.isJoined = isJoined;
    this.hosts = this.native.hosts() ?? undefined;
    const canPark = this.backend === "cuda" || options.workers > 0;
    this.pump = new CompletionPump(this.native, () => this.ranks, { canPark, inOrder });
    this.flightRecorder = flightRecord && new FlightRecorder(flightRecord.prefix, flightRecord.rank, this);
  }

  /** Machines of these ranks; undefined where all are on one. */
  hostsOf(ranks: readonly number[]): readonly number[] | undefined {
    const { hosts } = this;
    const own = hosts && ranks.map((rank) => hosts[rank] ?? 0);
    return own?.some((host) => host !== own[0]) ? own : undefined;
  }

  requireOpen(): void {
    if (!this.isOpen) throw new ClosedError("The world");
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.flightRecorder?.stop();
    this.native.close();
    this.pump.stop(new ClosedError("The world"));
  }
}
