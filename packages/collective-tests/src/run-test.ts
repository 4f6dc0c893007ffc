import { checkApplicability } from "./applicability.js";
import type { Measurement, OpenBackend, Turns } from "./backend.js";
import { casesOf, isPowerOfTwo } from "./cases.js";
import { PerfError, type PerfProblem } from "./errors.js";
import { exitCodes } from "./exit-code.js";
import { jsonReport } from "./json/report.js";
import { openReportFile, type ReportFile } from "./json/report-file.js";
import { openBackend, turnsOf } from "./open-backend.js";
import { type PerfOptions, type PerfRun, ranksOf } from "./options.js";
import { readRun } from "./read-run.js";
import { isMeasured, type MeasuredRow, type PerfCase } from "./results.js";
import { type RunContext, readContext } from "./run-context.js";
import { memoryCap, warmUpSizes } from "./sizes.js";
import { columnLines, deviceLine, footerLines, headerLines } from "./text/layout.js";
import { backendLine, rowText, widened } from "./text/side-by-side.js";
import { exitCodeOf, verdictOf } from "./verdict.js";

/**
 * Runs one program of the collective tests from its header to its footer.
 * @returns the exit code: 0, or 7 where a result was wrong or too slow.
 * @throws {InvalidArgumentError} for what makes no sense, before anything starts.
 * @throws {PerfError} for what can't run, or stopped. What was measured until then is in the JSON, with the error.
 */
export async function runTest(givenRun: PerfRun, givenContext: RunContext): Promise<number> {
  const [run, context] = [readRun(givenRun), readContext(givenContext)];
  checkApplicability(run.options);
  const program = `${run.collective}_perf`;
  const { print } = context;
  const file = openReport(run.options, print);
  const started = new Date();
  const rows: MeasuredRow[] = [];
  const opened: OpenBackend[] = [];
  const finish = (errors: readonly string[]): ReturnType<typeof verdictOf> => {
    const verdict = verdictOf(rows, run, context.environment.minBandwidth);
    if (file !== undefined) {
      const backends = run.options.backend.map((name, i) => ({ name, version: opened[i]?.version ?? "" }));
      const devices = opened[0]?.devices ?? [];
      const machine = opened[0]?.machine ?? {};
      const input = { run, started, ended: new Date(), environment: context.environmentLines, devices, backends, machine, rows };
      file.write(`${JSON.stringify(jsonReport({ ...input, verdict, errors }), undefined, 1)}\n`);
    }
    return verdict;
  };
  try {
    for (const name of run.options.backend) opened.push(await openBackend(context.backends, name, run.options, context.signal));
    for (const line of headerLines(program, run.options)) print(line);
    for (const device of opened[0]?.devices ?? []) print(deviceLine(device));
    const capped = { ...run, options: withinMemory(run.options, opened, print) };
    await measureAll(capped, opened, rows, context);
  } catch (error) {
    try {
      finish([error instanceof Error ? error.message : String(error)]);
    } catch (unwritten) {
      // Why it stopped is the error; that it isn't in the file stands beside it.
      print(`# ${unwritten instanceof Error ? unwritten.message : String(unwritten)}`);
    }
    throw error;
  }
  const verdict = finish([]);
  for (const line of footerLines(program, verdict)) print(line);
  return exitCodeOf(verdict);
}

function openReport({ output_file }: PerfOptions, print: (line: string) => void): ReportFile | undefined {
  if (output_file === "") return undefined;
  let file: ReportFile;
  try {
    file = openReportFile(output_file);
  } catch (error) {
    // nccl-tests measures all the same, for minutes, and ends with 0.
    throw unwritable("BAD_ARGUMENT", output_file, error, "Give a file in a folder that is there.");
  }
  print(`# Writing JSON output to ${output_file}`);
  return {
    write(text) {
      try {
        file.write(text);
      } catch (error) {
        const isFull = ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "");
        throw unwritable(
          "NO_OUTPUT",
          output_file,
          error,
          isFull ? "Make room on its disk, or give a file on another." : "Give another file.",
        );
      }
    },
  };
}

function unwritable(problem: PerfProblem, path: string, error: unknown, remedy: string): PerfError {
  const reason = (error as NodeJS.ErrnoException).code ?? String(error);
  return new PerfError(problem, `Nothing can be written to ${path} (${reason}).`, remedy, { path, reason });
}

function withinMemory(options: PerfOptions, opened: readonly OpenBackend[], print: (line: string) => void): PerfOptions {
  const cap = Math.min(...opened.map(({ memoryBytes }) => memoryCap(memoryBytes, options.check > 0)));
  const most = Math.floor(cap / options.concurrent);
  if (options.maxbytes <= most) return options;
  if (options.minbytes > most) {
    const remedy = `Ask for ${most} bytes at most, for fewer ranks, or for fewer at a time.`;
    throw new PerfError(
      "BAD_ARGUMENT",
      `There is no memory for ${options.minbytes} bytes on every rank.`,
      remedy,
      {},
      exitCodes.invalidUsage,
    );
  }
  print(`#\n# Reducing maxBytes to ${most} due to memory limitation`);
  return { ...options, maxbytes: most };
}

async function measureAll(run: PerfRun, opened: readonly OpenBackend[], rows: MeasuredRow[], context: RunContext): Promise<void> {
  const { options, collective } = run;
  const { print, signal } = context;
  const ranks = ranksOf(options);
  if (collective === "hypercube" && !isPowerOfTwo(ranks)) {
    print(`nRanks ${ranks} is not a power of 2, skipping`);
    return;
  }
  const cases = casesOf(collective, options);
  const warmUps = warmUpsOf(run, cases);
  const total = cases.length * options.run_cycles;
  const isSingle = opened.length === 1;
  for (const line of isSingle ? columnLines(options) : [backendLine(run), ...widened(columnLines(options), run)]) print(line);
  let done = 0;
  const show = (same: readonly MeasuredRow[]): void => {
    rows.push(...same);
    print(rowText(same, run));
    done += 1;
    context.onProgress?.(done, total);
  };
  const [only] = opened;
  if (isSingle && only !== undefined) {
    await only.measure({ run, cases, warmUps, cycles: options.run_cycles, signal }, (row) => show([row]));
  } else {
    await byTurns({ run, cases, warmUps, cycles: options.run_cycles, signal }, opened, show);
  }
  for (const reason of refusalsOf(rows)) print(`# ${reason}`);
  if (options.memory) print(memoryLine(rows));
}

/** Size by size, so that whatever the machine does to one backend it does to the others. */
async function byTurns(measurement: Measurement, opened: readonly OpenBackend[], show: (same: readonly MeasuredRow[]) => void) {
  const { cases, cycles } = measurement;
  const all: Turns[] = [];
  try {
    for (const backend of opened) all.push(turnsOf(backend, measurement));
    for (let cycle = 0; cycles === 0 || cycle < cycles; cycle += 1) {
      for (const row of cases.keys()) {
        const same: MeasuredRow[] = [];
        for (const turns of all) same.push(await turns.measure(row, cycle));
        show(same);
      }
    }
    for (const turns of all) await turns.end();
  } catch (error) {
    for (const turns of all) turns.stop();
    throw error;
  }
}

function warmUpsOf({ options, collective }: PerfRun, cases: readonly PerfCase[]): PerfCase[] {
  const [first] = cases;
  if (first === undefined || options.warmup_iters === 0) return [];
  const firstOnly = {
    ...options,
    datatype: [first.type],
    ...(first.op === "none" ? {} : { op: [first.op] }),
    root: Math.max(first.root, 0),
  };
  return warmUpSizes({ minBytes: options.minbytes, maxBytes: options.maxbytes }).flatMap((size) =>
    casesOf(collective, { ...firstOnly, minbytes: size, maxbytes: size }),
  );
}

function refusalsOf(rows: readonly MeasuredRow[]): string[] {
  const reasons = rows.flatMap(({ backend, outOfPlace, inPlace }) =>
    [outOfPlace, inPlace].flatMap((side, i) =>
      isMeasured(side) ? [] : [`N/A: ${backend}, ${i === 0 ? "out of place" : "in place"}: ${side.refusal}.`],
    ),
  );
  return [...new Set(reasons)];
}

function memoryLine(rows: readonly MeasuredRow[]): string {
  const most = Math.max(0, ...rows.map(({ outOfPlace }) => (isMeasured(outOfPlace) ? (outOfPlace.counters?.memoryBytes ?? 0) : 0)));
  return `# ${"GPU memory usage".padEnd(20)} : Registrations ${memoryText(most)} | Total  ${memoryText(most)}`;
}

function memoryText(bytes: number): string {
  const units = [" B", " KB", " MB", " GB"];
  const unit = Math.min(3, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const amount = bytes / 1024 ** unit;
  return `${amount.toFixed(amount < 10 ? 2 : amount < 100 ? 1 : 0)}${units[unit]}`;
}
