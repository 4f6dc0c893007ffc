export type { Measurement, OpenBackend, PerfBackend, Turns } from "./backend.js";
export { casesOf, isPowerOfTwo } from "./cases.js";
export {
  type Bandwidth,
  bandwidthOf,
  type CollectiveName,
  collectiveFacts,
  collectiveNames,
  extentOf,
  isCollectiveName,
} from "./collectives.js";
export { type ComparedRow, type ComparisonVerdict, compareReports, isRegression } from "./compare/compare-reports.js";
export { fewestSamples, type RatioInterval, ratioOfMedians } from "./compare/interval.js";
export { type ReadReport, readReport } from "./compare/read-report.js";
export { type PerfEnvironment, readEnvironment } from "./environment.js";
export { PerfError, type PerfProblem } from "./errors.js";
export { type ExitCode, exitCodes } from "./exit-code.js";
export type { JsonReport, JsonResult, JsonSide } from "./json/report.js";
export { openBackend, turnsOf } from "./open-backend.js";
export { type OptionRow, optionTable } from "./option-table.js";
export { type BackendName, backendNames, type Delay, type PerfOptions, type PerfRun, ranksOf } from "./options.js";
export { type ParsedArguments, parseArguments, usage } from "./parse-arguments.js";
export {
  isMeasured,
  type Measured,
  type MeasuredRow,
  type PerfCase,
  type PerfCounters,
  type PerfDevice,
  type Refused,
  type Side,
} from "./results.js";
export type { RunContext } from "./run-context.js";
export { runTest } from "./run-test.js";
export { parseSize, type Sweep, sweep } from "./sizes.js";
export { type IterationStatistics, iterationStatistics } from "./statistics.js";
export { dataTypeOf, type OpName, opNames, reduceOpOf, type TypeName, typeNames } from "./type-names.js";
