export type State = "ok" | "missing" | "failed";

/** One line of `dfccl doctor`. */
export interface Finding {
  readonly what: string;
  readonly state: State;
  readonly detail: string;
  /** How to get it, where something is missing; what to change, where something costs speed. */
  readonly remedy?: string;
  /** Nothing works without it. */
  readonly required?: boolean;
}
