import type { BackendName, PerfOptions, PerfRun } from "./options.js";
import type { MeasuredRow, PerfCase, PerfDevice } from "./results.js";

/** What a run wants measured by one backend. */
export interface Measurement {
  readonly run: PerfRun;
  readonly cases: readonly PerfCase[];
  /** Measured first, and thrown away. */
  readonly warmUps: readonly PerfCase[];
  readonly cycles: number;
  /** Not measured now, but buffers are as large as for these: each operation takes the next part of them, so that a cache isn't measured. */
  readonly buffersFor?: readonly PerfCase[];
  readonly signal?: AbortSignal | undefined;
}

/** A library to measure. */
export interface PerfBackend {
  readonly name: BackendName;
  /**
   * Whether it is there, and what it is.
   * @throws {PerfError} BACKEND_MISSING, TOO_FEW_DEVICES
   */
  open(options: PerfOptions, signal?: AbortSignal): Promise<OpenBackend>;
}

export interface OpenBackend {
  readonly version: string;
  /** A rank each. */
  readonly devices: readonly PerfDevice[];
  /** Memory that one rank may take, bytes. */
  readonly memoryBytes: number;
  /** What the machine could do when it was opened. */
  readonly machine: Readonly<Record<string, unknown>>;
  /**
   * Measures; calls `onRow` once for each case and cycle, in order.
   * @throws {PerfError} TIMED_OUT, RANK_DIED, BACKEND_FAILED
   */
  measure(measurement: Measurement, onRow: (row: MeasuredRow) => void): Promise<void>;
  /** For a backend that takes long to start: it stays while others measure. */
  startTurns?(measurement: Measurement): Turns;
}

/** Rows that are asked for one at a time; in between, other backends measure. */
export interface Turns {
  /**
   * @param row - of the measurement's cases.
   * @throws {PerfError} as OpenBackend.measure
   */
  measure(row: number, cycle: number): Promise<MeasuredRow>;
  /** All is measured. */
  end(): Promise<void>;
  /** Gives up, at once. */
  stop(): void;
}
