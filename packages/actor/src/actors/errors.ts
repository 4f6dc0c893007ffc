import { DfcclError, formatValue } from "@dfccl/primitives";

/** A plan can't be executed; found before anything starts. */
export class PlanError extends DfcclError {
  override readonly code: string;

  constructor(code: PlanErrorCode, what: string, remedy: string, facts: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(what, { facts, remedy, cause });
    this.code = code;
  }
}

export type PlanErrorCode =
  | "CYCLIC_GRAPH"
  | "REGISTER_COUNT"
  | "REGISTER_MEMORY"
  | "UNKNOWN_TASK"
  | "UNKNOWN_REGISTER"
  | "DUPLICATE_ID"
  | "IN_PLACE"
  | "RHYTHM";

/** A message came that must not come: one was lost, doubled or reordered on the way. */
export class ActorProtocolError extends DfcclError {
  override readonly code = "ACTOR_PROTOCOL";

  constructor(subject: string, problem: string) {
    super(`The protocol of actors is broken: ${subject} ${problem}.`, {
      facts: { subject, problem },
      remedy: "See that the bus delivers every message once.",
    });
  }
}

/** What an actor that can't act waits for. */
export interface WaitingActor {
  readonly task: string;
  /** Tasks whose results it lacks. */
  readonly inputsFrom: readonly string[];
  /** Tasks that hold its registers. */
  readonly registersAt: readonly string[];
}

/** No actor can act, no message is under way, and some have not ended. */
export class ActorsStuckError extends DfcclError {
  override readonly code = "ACTORS_STUCK";

  constructor(readonly waiting: readonly WaitingActor[]) {
    super(() => `${waiting.length} actors can't go on: ${waiting.slice(0, 4).map(waitOf).join("; ")}${waiting.length > 4 ? "; …" : ""}.`, {
      facts: { waiting },
      remedy: "Give the registers between them a larger count, or a path that packs K results K registers beside it.",
    });
  }
}

function waitOf({ task, inputsFrom, registersAt }: WaitingActor): string {
  const parts = [
    ...(inputsFrom.length > 0 ? [`results of ${inputsFrom.join(", ")}`] : []),
    ...(registersAt.length > 0 ? [`registers that ${registersAt.join(", ")} must give back`] : []),
  ];
  return `${task} waits for ${parts.join(" and ") || "its readers"}`;
}

/** A kernel may throw anything, also what throws whoever looks into it. */
function reasonOf(cause: unknown): string {
  try {
    if (typeof cause === "string") return cause;
    return cause instanceof Error ? String(cause.message) : formatValue(cause);
  } catch {
    return formatValue(cause);
  }
}

/** A task's kernel failed. */
export class KernelError extends DfcclError {
  override readonly code = "KERNEL";

  constructor(task: string, act: number, cause: unknown) {
    super(`Task ${task} failed in its act ${act}: ${reasonOf(cause)}`, {
      facts: { task, act },
      remedy: "The cause says more.",
      cause,
    });
  }
}
