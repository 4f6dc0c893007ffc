import { DeadlockError } from "./errors.js";
import type { NativeWorld } from "./native-addon/native-world.js";
import type { Rank } from "./rank.js";

// Idle turns of the event loop, at some microseconds each, before the loop sleeps until the engine wakes it.
const turnsBeforeParking = 64;
const driveMicros = 50;

interface Waiting {
  isOver: () => boolean;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Brings completions to JavaScript. While anything is in flight it takes part in every turn of the event loop: it steps the
 * engine for a moment, then delivers. When nothing moves for a while it parks: the engine's threads wake it through a
 * thread-safe function, and the process may end if nothing else keeps it alive and nothing is in flight.
 */
export class CompletionPump {
  private readonly waiting = new Set<Waiting>();
  private isScheduled = false;
  private isStopped = false;
  private isParked = false;
  private idleTurns = 0;

  constructor(
    private readonly native: NativeWorld,
    private readonly ranks: () => readonly Rank[],
    private readonly options: { readonly canPark: boolean; readonly inOrder: boolean },
  ) {
    native.setWaker(() => this.kick());
  }

  /** Something was submitted, or a completion was posted. */
  kick(): void {
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

  /** Fails everything that waits. */
  stop(error: unknown): void {
    if (this.isParked) this.unpark();
    for (const rank of this.ranks()) rank.failAll(error);
    for (const { reject } of this.waiting) reject(error);
    this.waiting.clear();
    this.isStopped = true;
  }

  private schedule(): void {
    if (this.isScheduled || this.isStopped) return;
    this.isScheduled = true;
    setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    this.isScheduled = false;
    if (this.isStopped) return; // Closed between two turns.
    const moved = this.native.drive(driveMicros);
    let pending = this.waiting.size;
    let delivered = 0;
    for (const rank of this.ranks()) {
      delivered += rank.runs.deliver();
      rank.flushBacklog();
      pending += rank.pendingRuns;
    }
    this.settleWaiting();
    if (pending === 0) return;
    this.idleTurns = moved || delivered > 0 ? 0 : this.idleTurns + 1;
    if (this.options.inOrder && this.idleTurns > 0 && this.failOnDeadlock()) return;
    if (this.idleTurns > turnsBeforeParking && this.waiting.size === 0 && this.options.canPark && this.park()) return;
    this.schedule();
  };

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
    const error = new DeadlockError(report);
    for (const rank of this.ranks()) rank.failAll(error);
    for (const { reject } of this.waiting) reject(error);
    this.waiting.clear();
    return true;
  }

  /** @returns false if something came in between, so that there is no time to sleep. */
  private park(): boolean {
    for (const rank of this.ranks()) rank.queues.setNeedsWake(1);
    // A completion posted before the flag was seen shows here; one posted later wakes us.
    if (this.ranks().some(({ queues }) => queues.hasUndelivered())) {
      for (const rank of this.ranks()) rank.queues.setNeedsWake(0);
      return false;
    }
    this.isParked = true;
    this.native.referenceWaker(true);
    return true;
  }

  private unpark(): void {
    this.isParked = false;
    for (const rank of this.ranks()) rank.queues.setNeedsWake(0);
    this.native.referenceWaker(false);
  }
}
