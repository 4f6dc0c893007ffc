export { prepareDigits } from "./data/mnist-digits.js";
export type { RecordFile } from "./data/record-file.js";
export {
  CheckpointError,
  DataMissingError,
  InterruptedError,
  ModelError,
  PlanError,
  RankLostError,
  StoppedError,
  TensorFlowError,
} from "./errors.js";
export { type HandOffFigures, type HandOffOptions, measureHandOffs } from "./hand-off/measure-hand-offs.js";
export { type RunRanksOptions, runRanks } from "./host/run-ranks.js";
export { taskNames } from "./models/tasks.js";
export type { Channel } from "./rank/channel.js";
export type { Communicator } from "./rank/communicator.js";
export { type DistributedOptimizer, type DistributedOptions, distributed } from "./rank/distributed.js";
export { type BackendName, useTensorFlow } from "./tensorflow.js";
export type { OptimizerName } from "./training/optimizers.js";
export type { Parallel } from "./training/parallel-layout.js";
export { type PlanOptions, planTraining, type TrainPlan } from "./training/plan.js";
export { type CheckpointOptions, type TrainOptions, type TrainResult, train } from "./training/train.js";
export { type SyntheticOptions, type SyntheticResult, trainSynthetic } from "./training/train-synthetic.js";
export type { TrainingStep } from "./training/training-step.js";
