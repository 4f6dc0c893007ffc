import { DfcclError } from "@dfccl/primitives";
import { EngineError } from "../errors.js";
import { flightRecordOf } from "./flight-record.js";
import type { WorldStatus } from "./inspect-worlds.js";
import { writeFlightRecord } from "./write-flight-record.js";

/** A rank's flight record could not be written. A warning: it never takes the place of what was to be recorded. */
export class FlightRecordError extends DfcclError {
  override readonly code = "FLIGHT_RECORD";

  constructor(path: string, cause: unknown) {
    super(`The flight record ${path} can't be written: ${reasonOf(cause)}.`, {
      facts: { path },
      remedy: "Set DFCCL_FLIGHT_RECORD to the beginning of a file's name in a folder that this process may write to.",
      cause,
    });
  }
}

/** The system's reason alone, where that is the cause. */
function reasonOf(cause: unknown): unknown {
  if (cause instanceof EngineError && cause.facts.reason !== undefined) return cause.facts.reason;
  return cause instanceof Error ? cause.message : cause;
}

/** What is recorded: a world, for as long as it is open. */
export interface Recorded {
  readonly isOpen: boolean;
  readonly native: { inspect(): WorldStatus | null };
}

// Of a world that nobody closed: its listener goes with it.
const collected = new FinalizationRegistry<() => boolean>((record) => process.off("SIGUSR2", record));

/**
 * Writes this rank's flight record, at PREFIX followed by its number: when a run has waited for too long for the first time,
 * and whenever the process gets SIGUSR2.
 */
export class FlightRecorder {
  private readonly path: string;
  // Weak, because the process holds the listener until the world is closed or collected.
  private readonly world: WeakRef<Recorded>;
  private hasTimedOut = false;

  constructor(
    prefix: string,
    private readonly rank: number,
    world: Recorded,
  ) {
    this.path = `${prefix}${rank}`;
    this.world = new WeakRef(world);
    process.on("SIGUSR2", this.record);
    collected.register(world, this.record, this);
  }

  /** @returns the file, where this is the world's first timeout and it could be written. */
  recordTimeout(): string | undefined {
    if (this.hasTimedOut) return undefined;
    this.hasTimedOut = true;
    return this.record() ? this.path : undefined;
  }

  stop(): void {
    process.off("SIGUSR2", this.record);
    collected.unregister(this);
  }

  private readonly record = (): boolean => {
    try {
      const world = this.world.deref();
      const status = world?.isOpen ? world.native.inspect() : null;
      if (status == null) return false;
      writeFlightRecord(this.path, flightRecordOf(status, this.rank));
      return true;
    } catch (error) {
      process.emitWarning(new FlightRecordError(this.path, error));
      return false;
    }
  };
}
