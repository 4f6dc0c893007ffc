import { StoppedError } from "../errors.js";
import { stopped } from "../wire.js";

/**
 * One collective as a rank's thread uses it: fill `send`, start, wait, read `recv`. Both lie in shared memory, so that nothing
 * is copied on the way to the engine, which runs beside this thread.
 */
export class Channel {
  private started = 0;

  /** @internal */
  constructor(
    readonly name: string,
    readonly send: Float32Array<SharedArrayBuffer>,
    /** The same memory as `send` where the collective can work in place. */
    readonly recv: Float32Array<SharedArrayBuffer>,
    private readonly number: number,
    private readonly completed: Int32Array<SharedArrayBuffer>,
    private readonly post: (channel: number) => void,
  ) {}

  /** Submits `send` as it is now. Returns at once; until wait() returns the memory is the engine's. */
  start(): void {
    this.started += 1;
    this.post(this.number);
  }

  /**
   * Blocks this thread until every run that was started has completed.
   * @throws {StoppedError} once the run is stopped, because another rank failed.
   */
  wait(): void {
    for (;;) {
      const completed = Atomics.load(this.completed, this.number);
      if (completed === stopped) throw new StoppedError(this.name);
      if (completed >= this.started) return;
      Atomics.wait(this.completed, this.number, completed);
    }
  }

  /** start(), wait(), and what was received. */
  run(): Float32Array<SharedArrayBuffer> {
    this.start();
    this.wait();
    return this.recv;
  }
}
