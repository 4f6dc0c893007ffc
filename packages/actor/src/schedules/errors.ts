import { DfcclError } from "@dfccl/primitives";

/** A gradient was handed in wrongly. */
export class GradientError extends DfcclError {
  override readonly code = "GRADIENT";

  constructor(tensor: string, problem: string, remedy: string, facts: Readonly<Record<string, unknown>> = {}) {
    super(`Gradient ${tensor} ${problem}.`, { facts: { tensor, ...facts }, remedy });
  }
}

/** A step can't end, because the schedule launches in an order and gradients of that order never came. */
export class IncompleteStepError extends DfcclError {
  override readonly code = "INCOMPLETE_STEP";

  constructor(schedule: string, missing: readonly string[], held: number) {
    super(
      () =>
        `The ${schedule} schedule holds back ${held} gradients, because ${missing.length} before them never came: ${missing.slice(0, 5).join(", ")}.`,
      {
        facts: { schedule, missing, held },
        remedy: 'Hand in every gradient in every step, zeros where there is none, or use the schedule "preemptive", which needs no order.',
      },
    );
  }
}
