import { DfcclError } from "@dfccl/primitives";

/** Ranks and hierarchy don't fit each other, or the tensors of one operation lie on different ranks. */
export class PlacementError extends DfcclError {
  override readonly code = "PLACEMENT";

  constructor(what: string, remedy: string, facts: Readonly<Record<string, unknown>> = {}) {
    super(what, { facts, remedy });
  }
}

/** A signature doesn't fit a tensor or its placement. */
export class SignatureError extends DfcclError {
  override readonly code = "SIGNATURE";

  constructor(what: string, remedy: string, facts: Readonly<Record<string, unknown>> = {}) {
    super(what, { facts, remedy });
  }
}

/** A shape doesn't fit what is done with it. */
export class ShapeError extends DfcclError {
  override readonly code = "SHAPE";

  constructor(what: string, remedy: string, facts: Readonly<Record<string, unknown>> = {}) {
    super(what, { facts, remedy });
  }
}
