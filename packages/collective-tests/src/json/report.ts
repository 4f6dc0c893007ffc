import { bandwidthOf, collectiveFacts } from "../collectives.js";
import { type BackendName, type PerfRun, ranksOf } from "../options.js";
import { isMeasured, type MeasuredRow, type PerfCounters, type PerfDevice, type Side } from "../results.js";
import { iterationStatistics } from "../statistics.js";
import { timeText, type Verdict } from "../text/layout.js";

export const jsonVersion = 3;

/** nccl-tests writes truth values as text. */
type TextualBoolean = "true" | "false";

/** GB/s; JSON has no NaN. */
type JsonBandwidth = number | "nan";

export interface JsonSide {
  readonly time?: number;
  readonly cpu_time?: number;
  readonly alg_bw: number;
  readonly bus_bw: number;
  readonly nwrong: number | null;
}

export interface JsonIterations {
  readonly skipped_iterations: number;
  readonly min_us: number;
  readonly max_us: number;
  readonly avg_us: number;
  readonly p50_us: number;
  readonly p95_us: number;
  readonly p99_us: number;
  readonly stdev_us: number;
  readonly cv_pct: number;
  readonly times_us: readonly number[];
}

export interface JsonResult {
  readonly size: number;
  readonly count: number;
  readonly type: string;
  readonly redop: string;
  /** Right-aligned in six columns, as nccl-tests writes it. */
  readonly root: string;
  readonly out_of_place: JsonSide | null;
  readonly out_of_place_per_iter?: JsonIterations;
  readonly in_place: JsonSide | null;
  readonly in_place_per_iter?: JsonIterations;
  readonly actual_iterations: number;
  readonly experiment_name: string;
  /** Only where several backends were measured. */
  readonly backend?: BackendName;
}

/** What is said besides what nccl-tests says; readers of its format don't look at it. */
export interface JsonExtras {
  readonly kind: "perf";
  readonly program: string;
  readonly ranks: number;
  readonly backends: readonly {
    readonly name: BackendName;
    readonly version: string;
    /** Absent from reports of old. */
    readonly average_bus_bandwidth?: JsonBandwidth;
  }[];
  readonly order: string;
  readonly concurrent: number;
  readonly processes: number;
  readonly delay: { readonly rank: number; readonly micros: number } | null;
  readonly machine: Readonly<Record<string, unknown>>;
  /** For each result: what the engine counted, out of place and in place. */
  readonly counters: readonly { readonly out_of_place: PerfCounters | null; readonly in_place: PerfCounters | null }[];
  /** Why sides of rows are missing. */
  readonly refusals: readonly string[];
}

export interface JsonReport {
  readonly version: number;
  readonly start_time: string;
  readonly args: readonly string[];
  readonly env: readonly string[];
  readonly nccl_version: number;
  readonly config: Readonly<Record<string, unknown>>;
  readonly results: readonly JsonResult[];
  readonly out_of_bounds: { readonly count: number; readonly okay: TextualBoolean };
  /** Of the first backend. */
  readonly average_bus_bandwidth: { readonly bandwidth: JsonBandwidth; readonly okay: TextualBoolean | "unchecked" };
  readonly errors: readonly string[];
  readonly end_time: string;
  readonly dfccl: JsonExtras;
}

export interface JsonInput {
  readonly run: PerfRun;
  readonly started: Date;
  readonly ended: Date;
  /** NAME=VALUE: those that concern such programs, lest a report publishes somebody's secrets. */
  readonly environment: readonly string[];
  readonly devices: readonly PerfDevice[];
  readonly backends: readonly { readonly name: BackendName; readonly version: string }[];
  readonly machine: Readonly<Record<string, unknown>>;
  readonly rows: readonly MeasuredRow[];
  readonly verdict: Verdict;
  readonly errors: readonly string[];
}

/** A run in nccl-tests' JSON, version 3. */
export function jsonReport(input: JsonInput): JsonReport {
  const { run, verdict, rows } = input;
  const { isFastEnough, averages } = verdict;
  const sides = rows.flatMap(({ outOfPlace, inPlace }) => [outOfPlace, inPlace]);
  return {
    version: jsonVersion,
    start_time: timeText(input.started),
    args: run.args,
    env: input.environment,
    nccl_version: ncclVersion(input.backends),
    config: config(run, input.devices),
    results: rows.map((row) => result(row, run)),
    out_of_bounds: { count: verdict.wrong, okay: textual(verdict.wrong === 0) },
    average_bus_bandwidth: {
      bandwidth: jsonBandwidth(averages[0]?.gigabytes ?? Number.NaN),
      okay: isFastEnough === undefined ? "unchecked" : textual(isFastEnough),
    },
    errors: input.errors,
    end_time: timeText(input.ended),
    dfccl: {
      kind: "perf",
      program: run.collective,
      ranks: ranksOf(run.options),
      backends: input.backends.map((backend, i) => ({
        ...backend,
        average_bus_bandwidth: jsonBandwidth(averages[i]?.gigabytes ?? Number.NaN),
      })),
      order: run.options.order,
      concurrent: run.options.concurrent,
      processes: run.options.processes,
      delay: run.options.delay ?? null,
      machine: input.machine,
      counters: rows.map(({ outOfPlace, inPlace }) => ({ out_of_place: countersOf(outOfPlace), in_place: countersOf(inPlace) })),
      refusals: [...new Set(sides.flatMap((side) => (isMeasured(side) ? [] : [side.refusal])))],
    },
  };
}

function config({ options }: PerfRun, devices: readonly PerfDevice[]): Readonly<Record<string, unknown>> {
  return {
    nthreads: options.nthreads,
    ngpus: options.ngpus,
    minimum_bytes: options.minbytes,
    maximum_bytes: options.maxbytes,
    ...(options.stepfactor > 1 ? { step_factor: options.stepfactor } : { step_bytes: options.stepbytes }),
    warmup_iters: options.warmup_iters,
    iterations: options.iters,
    aggregated_iterations: options.agg_iters,
    validation: options.check,
    graph: options.cudagraph,
    blocking_collectives: textual(options.blocking !== 0),
    per_iter_timing: textual(options.per_iter_timing !== 0),
    per_iter_skip: options.per_iter_skip,
    parallel_init: textual(options.parallel_init !== 0),
    devices: devices.map(({ rank, group, pid, hostname, device, bus, name }) => ({
      rank,
      group,
      pid,
      hostname,
      device,
      device_hex: bus,
      device_info: name,
    })),
  };
}

function result(row: MeasuredRow, { collective, options }: PerfRun): JsonResult {
  const { count, bytes, movedBytes, type, op, root } = row.case;
  const side = (measured: Side): JsonSide | null => {
    if (!isMeasured(measured)) return null;
    const us = options.report_cputime ? measured.cpuUs : measured.us;
    const bandwidth = bandwidthOf(collective, { count, bytes, movedBytes }, ranksOf(options), us);
    const time = options.report_cputime ? { cpu_time: rounded(us) } : { time: rounded(us) };
    return { ...time, alg_bw: rounded(bandwidth.algorithm), bus_bw: rounded(bandwidth.bus), nwrong: measured.wrong };
  };
  const [outIterations, inIterations] = [row.outOfPlace, row.inPlace].map((measured) => iterations(measured, options.per_iter_skip));
  return {
    size: bytes,
    count,
    type,
    redop: op,
    root: String(root).padStart(6),
    out_of_place: side(row.outOfPlace),
    ...(outIterations ? { out_of_place_per_iter: outIterations } : {}),
    in_place: side(row.inPlace),
    ...(inIterations ? { in_place_per_iter: inIterations } : {}),
    actual_iterations: options.iters,
    experiment_name: collectiveFacts(collective).title,
    ...(options.backend.length > 1 ? { backend: row.backend } : {}),
  };
}

function iterations(side: Side, skipped: number): JsonIterations | undefined {
  if (!isMeasured(side) || side.timesUs === undefined) return undefined;
  const s = iterationStatistics(side.timesUs);
  if (s === undefined) return undefined;
  return {
    skipped_iterations: skipped,
    min_us: rounded(s.min),
    max_us: rounded(s.max),
    avg_us: rounded(s.avg),
    p50_us: rounded(s.p50),
    p95_us: rounded(s.p95),
    p99_us: rounded(s.p99),
    stdev_us: rounded(s.stdev),
    cv_pct: rounded(s.cv),
    times_us: side.timesUs.map(rounded),
  };
}

function countersOf(side: Side): PerfCounters | null {
  return isMeasured(side) ? (side.counters ?? null) : null;
}

/** As NCCL numbers it: 2.28.3 is 22803; 0 where it was not measured. */
function ncclVersion(backends: JsonInput["backends"]): number {
  const version = backends.find(({ name }) => name === "nccl")?.version ?? "";
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  return major * 10_000 + minor * 100 + patch || 0;
}

function textual(value: boolean): TextualBoolean {
  return value ? "true" : "false";
}

function jsonBandwidth(bandwidth: number): JsonBandwidth {
  return Number.isNaN(bandwidth) ? "nan" : rounded(bandwidth);
}

/** C's %lf has six decimals. */
function rounded(value: number): number {
  return Number(value.toFixed(6));
}
