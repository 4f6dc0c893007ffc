export { type CycleMember, describeCycle } from "./disorder/deadlock-text.js";
export { MemoryError } from "./disorder/memory-need.js";
export { type ControlResult, runControl } from "./disorder/run-control.js";
export { type DisorderOptions, type DisorderResult, type RunContext, runDisorder } from "./disorder/run-disorder.js";
export { type OrderKind, orderKinds } from "./disorder/submission-order.js";
export { loadProgramTable, type ProgramTable, ProgramTableError } from "./programs/program-table.js";
export { loadWorkload, WorkloadError, workloadNames } from "./workloads/load-workload.js";
export { elementsOf, scaled, type Tensor, type Workload } from "./workloads/workload.js";
