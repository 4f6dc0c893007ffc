export { runControl, runDisorder, type ControlResult, type DisorderOptions, type DisorderResult } from "./disorder/run-disorder.js";
export { orderKinds, type OrderKind } from "./disorder/submission-order.js";
export { loadWorkload, WorkloadError, workloadNames } from "./workloads/load-workload.js";
export { elementsOf, scaled, type Tensor, type Workload } from "./workloads/workload.js";
