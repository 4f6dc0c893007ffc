export { oneGroupRatio } from "./deadlock/closed-form.js";
export { type ConfigProblem, type DeadlockConfig, type ListOrder, parseDeadlockConfig, SimulationConfigError } from "./deadlock/config.js";
export { deadlockSvg } from "./deadlock/deadlock-svg.js";
export { type DeadlockExplanation, type ExplainedGpu, explainDeadlock, explanationText } from "./deadlock/explain.js";
export { type DeadlockFigure, type RatioCurve, simulateFigures } from "./deadlock/figures.js";
export { confidenceInterval } from "./deadlock/interval.js";
export type { ReplayKind, ReplayTallies, ReplayTally } from "./deadlock/replay-deadlock.js";
export type { WholeReplays } from "./deadlock/simulate-chunk.js";
export { type DeadlockOptions, type DeadlockResult, type RatioEstimate, simulateDeadlocks } from "./deadlock/simulate-deadlocks.js";
export { type RowEstimate, simulateTable, type TableOptions, type TableRow } from "./deadlock/simulate-table.js";
export { type PublishedCount, type Table1Row, table1 } from "./deadlock/table1.js";
export { type DeadlockTimeline, deadlockTimeline, type TimelineBarrier, type TimelineGpu, type TimelinePart } from "./deadlock/timeline.js";
export { type BlockCosts, type Cluster, h200BlockCosts } from "./program/cluster.js";
export type { PlacedProgram } from "./program/place-programs.js";
export { type ProgramSimulationOptions, type ProgramTimes, simulatePrograms } from "./program/simulate-programs.js";
export { type Calibration, calibrate, type MeasuredCase, type Prediction } from "./schedule/calibrate.js";
export {
  type LateRankPolicy,
  type LateRankResult,
  type LateRankSetting,
  type QueueChange,
  simulateLateRank,
} from "./schedule/experiments/late-rank.js";
export {
  type Ordering,
  type OrderingResult,
  type OrderingWorkload,
  orderings,
  orderingWorkload,
  simulateOrderings,
} from "./schedule/experiments/orderings.js";
export { type LayeredModel, layeredModel, type PriorityResult, simulatePriority } from "./schedule/experiments/priority.js";
export {
  type Disorder,
  disorders,
  groupScales,
  type ScaleOptions,
  type ScaleResult,
  type ScaleSizes,
  scales,
  simulateScale,
} from "./schedule/experiments/scale.js";
export { simulateValley, type ValleyPoint } from "./schedule/experiments/valley.js";
export { type DaemonCosts, gpuCosts, type HostAction, type ScheduleScenario, type SimulatedCollective } from "./schedule/scenario.js";
export {
  type LongScheduleOptions,
  type RankResult,
  type ScheduleOptions,
  type ScheduleResult,
  simulateLongSchedule,
  simulateSchedule,
} from "./schedule/simulate-schedule.js";
export { infiniband, islands, type Link, type Topology } from "./schedule/topology.js";
export { parseScheduleWorkload, type ScheduleWorkload, scenarioOf } from "./schedule/workload.js";
