import { DeadlockError } from "./errors.js";
import { typedError } from "./native-addon/native-error.js";
import type { NativeWorld } from "./native-addon/native-world.js";
import type { RankQueues } from "./rank-queues.js";

// Idle turns of the event loop, at some microseconds each, before the loop rests.
const turnsBeforeRest = 64;
const driveMicros = 50;
const napMs = 1;

/** What the pump needs of the engine. */
export type PumpedEngine = Pick<NativeWorld, "drive" | "deadlock" | "setWaker" | "referenceWaker">;

/** What the pump needs of a rank. */
export interface PumpedRank {
  readonly queues: Pick<RankQueues, "setNeedsWake" | "undelivered">;
  readonly pendingRuns: number;
  /** Something is under way whose end no completion announces. */
  readonly isWatching: boolean;
  deliver(): number;
  failAll(error: unknown, isEngineStopped: boolean): void;
}

interface Waiting {
  readonly isOver: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

// Pumps that sleep with runs in flight. The engine wakes them, and meanwhile nothing else has to hold their world.
const parked = new Set<CompletionPump>();

/**
 * Brings completions to JavaScript. While anything is in flight it takes part in every turn of the event loop: it steps the
 * engine for a moment, then delivers. When nothing moves for a while it rests:
 *
 * - parked, where only completions are awaited and the engine has threads: those wake it through a thread-safe function,
 *   which keeps the event loop alive for so long;
 * - in naps of a millisecond otherwise.
 *
 * With nothing in flight there is no turn, the process may end, and a world that nobody holds can be collected.
 */
export class CompletionPump {
  private readonly waiting = new Set<Waiting>();
  private isScheduled = false;
  private isStopped = false;
  private isParked = false;
  private nap: NodeJS.Timeout | undefined;
  private idleTurns = 0;

  constructor(
    private readonly native: PumpedEngine,
    private readonly ranks: () => readonly PumpedRank[],
    private readonly options: { readonly canPark: boolean; readonly inOrder: boolean },
  ) {
    // Weak, because the engine holds this function until the world is closed or collected.
    const self = new WeakRef(this);
    native.setWaker(() => self.deref()?.kick());
  }

  /** Something was submitted, or a completion was posted. */
  kick(): void {
    if (this.isStopped) return;
    if (this.isParked) this.unpark();
    this.idleTurns = 0;
    this.schedule();
  }

  /** Resolves once `isOver()` holds; looked at in every turn. Rejects when the world is closed or deadlocked. */
  until(isOver: () => boolean): Promise<void> {
    if (isOver()) return Promise.resolve();
    return new Promise<void>((resolve, reject) => {
      this.waiting.add({ isOver, resolve, reject });
      this.kick();
    });
  }

  /** No turn follows. Fails everything that waits. @pre the engine has stopped. */
  stop(error: unknown): void {
    this.isStopped = true;
    if (this.isParked) this.unpark();
    clearTimeout(this.nap);
    this.failAll(error, true);
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    clearTimeout(this.nap);
    setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    this.isScheduled = false;
    if (this.isStopped) return;
    const moved = this.drive();
    if (this.isStopped || moved === undefined) return;
    let delivered = 0;
    for (const rank of this.ranks()) {
      delivered += rank.deliver();
      if (this.isStopped) return; // A callback has closed the world.
    }
    this.settleWaiting();
    if (this.isScheduled) return; // A callback has submitted.
    if (this.waiting.size === 0 && this.ranks().every(({ pendingRuns, isWatching }) => pendingRuns === 0 && !isWatching)) return;
    this.idleTurns = moved || delivered > 0 ? 0 : this.idleTurns + 1;
    if (this.options.inOrder && this.idleTurns > 0 && this.failOnDeadlock()) return;
    if (this.idleTurns > turnsBeforeRest) this.rest();
    else this.schedule();
  };

  /** @returns undefined: a daemon is lost, and everything has been told. */
  private drive(): boolean | undefined {
    try {
      return this.native.drive(driveMicros);
    } catch (error) {
      this.failAll(typedError(error), false);
      return undefined;
    }
  }

  private settleWaiting(): void {
    for (const waiting of this.waiting) {
      try {
        if (!waiting.isOver()) continue;
        waiting.resolve();
      } catch (error) {
        waiting.reject(error);
      }
      this.waiting.delete(waiting);
    }
  }

  private failOnDeadlock(): boolean {
    const report = this.native.deadlock();
    if (report === null) return false;
    this.failAll(new DeadlockError(report), false);
    return true;
  }

  private failAll(error: unknown, isEngineStopped: boolean): void {
    for (const rank of this.ranks()) rank.failAll(error, isEngineStopped);
    for (const { reject } of this.waiting) reject(error);
    this.waiting.clear();
  }

  private rest(): void {
    // Nothing announces the end of a daemon's stay or of a quarantine, nor what only callers step.
    if (this.waiting.size > 0 || !this.options.canPark || this.ranks().some(({ isWatching }) => isWatching)) {
      this.nap = setTimeout(this.turn, napMs);
      return;
    }
    for (const { queues } of this.ranks()) queues.setNeedsWake(1);
    // A completion posted before the flag was seen shows here; one posted later wakes us.
    if (this.ranks().some(({ queues }) => queues.undelivered() !== 0)) {
      for (const { queues } of this.ranks()) queues.setNeedsWake(0);
      this.schedule();
      return;
    }
    this.isParked = true;
    parked.add(this);
    this.native.referenceWaker(true);
  }

  private unpark(): void {
    this.isParked = false;
    parked.delete(this);
    for (const { queues } of this.ranks()) queues.setNeedsWake(0);
    this.native.referenceWaker(false);
  }
}
