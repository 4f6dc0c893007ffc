import { DfcclError } from "@dfccl/primitives";

interface EndedOptions {
  readonly cause?: unknown;
  readonly remedy?: string;
  /** From which the run can go on. */
  readonly checkpoint?: string | undefined;
}

/** A rank's thread ended before its work was done. `facts.rank` names it, `facts.checkpoint` where to go on from, if anywhere. */
export class RankLostError extends DfcclError {
  override readonly code = "RANK_LOST";

  constructor(
    readonly rank: number,
    readonly how: string,
    options: EndedOptions = {},
  ) {
    super(`Rank ${rank} ${how}.`, () => {
      const { cause, remedy = "See why it ended, and start again.", checkpoint } = options;
      return { facts: { rank, how, checkpoint }, remedy, cause };
    });
  }
}

/** The run was told to stop. `facts.checkpoint` says where to go on from, if anywhere. */
export class InterruptedError extends DfcclError {
  override readonly code = "INTERRUPTED";

  constructor(options: EndedOptions = {}) {
    super("The run was interrupted.", () => {
      const { remedy = "Start it again.", checkpoint } = options;
      return { facts: { checkpoint }, remedy };
    });
  }
}

/** The run has been stopped while this rank waited for others. */
export class StoppedError extends DfcclError {
  override readonly code = "STOPPED";

  constructor(waitedFor: string) {
    super(`The run was stopped while this rank waited for ${waitedFor}.`, {
      facts: { waitedFor },
      remedy: "See the error of the rank that ended first.",
    });
  }
}

/** TensorFlow.js lacks something. */
export class TensorFlowError extends DfcclError {
  override readonly code = "TENSORFLOW";

  constructor(what: string) {
    super(`${what}.`, { remedy: 'Use the backend "cpu", which has every kernel and is slow, or another layer.' });
  }
}

/** Something to train on is not there, or is not what it should be. */
export class DataMissingError extends DfcclError {
  override readonly code = "DATA_MISSING";

  constructor(what: string, command: string, cause?: unknown) {
    super(`${what}.`, { facts: { command }, remedy: `Type: ${command}`, ...(cause === undefined ? {} : { cause }) });
  }
}

/** There is no such model. `facts.known` lists those that there are. */
export class ModelError extends DfcclError {
  override readonly code = "UNKNOWN_MODEL";

  constructor(name: string, known: readonly string[]) {
    super(`There is no model "${name}".`, () => ({ facts: { name, known }, remedy: `Give one of ${known.join(", ")}.` }));
  }
}

/** Ranks, batch or sizes of a model don't divide as the plan of the run needs it. */
export class PlanError extends DfcclError {
  override readonly code = "PLAN";

  constructor(what: string, remedy: string, facts: Readonly<Record<string, unknown>>) {
    super(`${what}.`, { facts, remedy });
  }
}

/** A checkpoint is missing, corrupt, or of another run, or can't be saved. */
export class CheckpointError extends DfcclError {
  override readonly code = "CHECKPOINT";

  constructor(what: string, remedy: string, facts: Readonly<Record<string, unknown>>, cause?: unknown) {
    super(`${what}.`, { facts, remedy, ...(cause === undefined ? {} : { cause }) });
  }
}
