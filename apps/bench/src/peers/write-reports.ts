import { writeOutput } from "../outputs/write-output.js";
import { say } from "../terminal/say.js";

/** Where a benchmark's result goes beside the terminal. */
export interface ReportFlags {
  /** A file, or "-": standard output, which then holds nothing else. */
  readonly json?: string;
  readonly markdown?: string;
}

/** Prints lines for people, unless standard output is to hold JSON. */
export function sayer({ json }: ReportFlags): (text: string) => void {
  return (text) => {
    if (json !== "-") say(text);
  };
}

/** @throws {BenchError} NO_OUTPUT */
export function writeReports<Report>(flags: ReportFlags, report: Report, markdown?: (report: Report) => string): void {
  const json = `${JSON.stringify(report, null, 2)}\n`;
  if (flags.json === "-") process.stdout.write(json);
  else if (flags.json !== undefined) writeOutput(flags.json, json);
  if (flags.markdown !== undefined && markdown !== undefined) writeOutput(flags.markdown, markdown(report));
}
