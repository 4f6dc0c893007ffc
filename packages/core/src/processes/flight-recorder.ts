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

// Those of worlds that are open. A world that nobody closed takes its recorder with it.
const recorders = new Set<FlightRecorder>();
const collected = new FinalizationRegistry<FlightRecorder>((recorder) => recorders.delete(recorder));
let isListening = false;

/** Stays when the last of them is gone: whoever sends the signal sends it to a whole job, and it ends who doesn't listen. */
function listen(): void {
  if (isListening) return;
  isListening = true;
  process.on("SIGUSR2", () => {
    for (const recorder of recorders) recorder.record();
  });
}

/** @internal How many there are. */
export function recorderCount(): number {
  return recorders.size;
}

/**
 * Writes this rank's flight record, at PREFIX followed by its number: when a run has waited for too long for the first time,
 * and whenever the process gets SIGUSR2.
 */
export class FlightRecorder {
  private readonly path: string;
  // Weak, because recorders are held until the world is closed or collected.
  private readonly world: WeakRef<Recorded>;
  private hasTimedOut = false;

  constructor(
    prefix: string,
    private readonly rank: number,
    world: Recorded,
  ) {
    this.path = `${prefix}${rank}`;
    this.world = new WeakRef(world);
    listen();
    recorders.add(this);
    collected.register(world, this, this);
  }

  /** @returns the file, where this is the world's first timeout and it could be written. */
  recordTimeout(): string | undefined {
    if (this.hasTimedOut) return undefined;
    this.hasTimedOut = true;
    return this.record() ? this.path : undefined;
  }

  stop(): void {
    recorders.delete(this);
    collected.unregister(this);
  }

  record(): boolean {
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
  }
}
