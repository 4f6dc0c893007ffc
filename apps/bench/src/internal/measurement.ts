// What commands that measure are made of, for those of apps/laboratory. Nobody else is promised any of it.
export { byteSize, listOf, outputFile, outputFileOrDash, sizesOption, wholeNumber } from "../commands/options.js";
export { temporaryFolder } from "../outputs/temporary-folder.js";
export {
  type NativeOverheads,
  type OverheadsReport,
  type RateRow,
  type RegisteredMemory,
  sectionsOf,
} from "../overheads/overheads-report.js";
export { BenchError } from "../peers/bench-error.js";
export { markdownTable } from "../peers/markdown.js";
export { median } from "../peers/median.js";
export { mpirunFlags } from "../peers/mpirun-flags.js";
export { buildNativeTarget, findCommand } from "../peers/native-programs.js";
export {
  busyWarning,
  describeHeader,
  type MachineFacts,
  machineFacts,
  type PeerFacts,
  type ReportHeader,
  reportHeader,
} from "../peers/report-header.js";
export { reportPage } from "../peers/report-page.js";
export { type MeasurementTools, runMeasurement } from "../peers/run-measurement.js";
export { jsonLines, type ProgramRun, runProgram } from "../peers/run-program.js";
export { type ReportFlags, writeReports } from "../peers/write-reports.js";
export { writePrograms } from "../perf/engine-programs.js";
export { endOnBrokenPipe } from "../terminal/broken-pipe.js";
export { err, out } from "../terminal/colors.js";
export { exitCodesText } from "../terminal/exit-codes.js";
export { withNote } from "../terminal/note.js";
export { withProgress } from "../terminal/progress.js";
export { runToExitCode } from "../terminal/run-to-exit-code.js";
export { formatBytes, formatCountOf, formatSeconds, formatTable } from "../terminal/table.js";
export { wrap } from "../terminal/wrap.js";
export { resnet50 } from "../workloads/resnet50.js";
export { elementsOf } from "../workloads/workload.js";
