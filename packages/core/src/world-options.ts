import type { OptionNames } from "@dfccl/primitives";
import type { PolicyName, SchedulePolicy } from "@dfccl/scheduler";
import type { BackendChoice } from "./backend.js";

/** Defaults: docs/defaults.md. */
export interface WorldOptions<Choice extends BackendChoice = BackendChoice> {
  /** Ranks in this process, 1 to 1024. */
  readonly ranks: number;
  /**
   * Where collectives execute: "cpu" (the default), "cuda", or "auto", which takes GPUs where they can be used. Asked for
   * explicitly, because what `rank.allocate` gives differs.
   */
  readonly backend?: Choice;
  /** GPU of each rank; default: rank r has GPU r, again from 0 where there are no more. */
  readonly devices?: readonly number[];
  /** How each rank schedules: a name, or plain data such as another world's `policy`. Default "default". */
  readonly policy?: PolicyName | SchedulePolicy;
  /** For policy "in-order": collectives that run at once. Default 1. */
  readonly streams?: number;
  /** Engine threads; default one less than there are cores, at least 1. 0: only callers step. */
  readonly workers?: number;
  /** Blocks of each rank's daemon; default on a CPU as many as cores per rank, at least 1 (between machines 1); on a GPU 17. */
  readonly blocks?: number;
  /** Entries of each submission queue: a power of two up to 32768, default 4096 (GPU: 1024). */
  readonly submissionSlots?: number;
  /** Runs in flight on a rank: a power of two from 8, default 4096 (GPU: 1024, which is the most there). */
  readonly completionSlots?: number;
  /** Collectives registered at once on a rank, default 4096 (GPU: 1024, which is the most there). */
  readonly maxCollectives?: number;
  /** Program blocks of them together, default twice as many (GPU: 8192, which is the most there). */
  readonly maxTasks?: number;
  /**
   * Bound on connector and scratch memory in bytes, default 1 GiB: of the world, reserved but not touched at start; on
   * GPUs of each rank, and taken at start.
   */
  readonly arenaBytes?: number;
  /** Payload of a connector's slot in bytes, default 32 KiB (GPU: 128 KiB; protocols with flags take 64 KiB at most there). */
  readonly slotPayloadBytes?: number;
  /**
   * Slice of direct programs in bytes, default 64 KiB (GPU: 3.99 MiB, of which all threads have the same share; at most
   * 1 MiB where a block does several things by turns).
   */
  readonly directTileBytes?: number;
}

/** Those that joinWorld() has too. */
export const sharedOptionNames = {
  backend: true,
  devices: true,
  policy: true,
  workers: true,
  blocks: true,
  submissionSlots: true,
  completionSlots: true,
  maxCollectives: true,
  maxTasks: true,
  arenaBytes: true,
  slotPayloadBytes: true,
  directTileBytes: true,
} as const;

export const worldOptionsExample = "an object such as { ranks: 4 }";
export const worldOptionNames: OptionNames<WorldOptions> = { ranks: true, streams: true, ...sharedOptionNames };
