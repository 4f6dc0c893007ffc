import { PerfError } from "@dfccl/collective-tests";
import { readText, shownPath } from "./read-text.js";

/** The text of a result file. @throws {PerfError} BAD_REPORT */
export function readReportText(path: string): string {
  return readText(path, (why) => new PerfError("BAD_REPORT", `${shownPath(path)} can't be read: ${why}.`, "Look at the path.", { path }));
}
