export { oneGroupRatio } from "./deadlock/closed-form.js";
export { type ConfigProblem, type DeadlockConfig, type ListOrder, parseDeadlockConfig, SimulationConfigError } from "./deadlock/config.js";
export { deadlockSvg } from "./deadlock/deadlock-svg.js";
export { type DeadlockExplanation, type ExplainedGpu, explainDeadlock, explanationText } from "./deadlock/explain.js";
export { confidenceInterval } from "./deadlock/interval.js";
export type { ReplayKind, ReplayTallies, ReplayTally } from "./deadlock/replay-deadlock.js";
export { type DeadlockOptions, type DeadlockResult, type RatioEstimate, simulateDeadlocks } from "./deadlock/simulate-deadlocks.js";
export { type RowEstimate, simulateTable, type TableOptions, type TableRow } from "./deadlock/simulate-table.js";
export { type PublishedCount, type Table1Row, table1 } from "./deadlock/table1.js";
