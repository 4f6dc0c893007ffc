export interface TrainingStep {
  /** From 1. */
  readonly step: number;
  readonly steps: number;
  /** Mean over the global batch, before the step's update. */
  readonly loss: number;
  /** Since the first step ended. */
  readonly samplesPerSecond: number;
}
