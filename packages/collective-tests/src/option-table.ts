import { type BackendName, backendNames, type Delay, type PerfOptions } from "./options.js";
import { parseSize } from "./sizes.js";
import { opNames, opsOfAll, typeNames } from "./type-names.js";

type Value = PerfOptions[keyof PerfOptions];

export interface OptionRow {
  /** One letter; none for what nccl-tests doesn't have. */
  readonly short?: string;
  readonly long: keyof PerfOptions;
  /** What stands behind it in the usage text. */
  readonly value: string;
  readonly meaning: string;
  readonly byDefault: Value;
  /** The value, or undefined where the text says none. */
  readonly parse: (text: string) => Value | undefined;
  /** What may be typed, for the error. */
  readonly expects: string;
}

const million = 2 ** 20;

/** Every option, in the order of nccl-tests' usage text. */
export const optionTable: readonly OptionRow[] = [
  whole("t", "nthreads", "threads that drive ranks", 1, 1),
  whole("g", "ngpus", "ranks of each thread", 1, 1),
  size("b", "minbytes", "smallest size", 32 * million),
  size("e", "maxbytes", "largest size", 32 * million),
  size("i", "stepbytes", "from one size to the next", million),
  whole("f", "stepfactor", "from one size to the next, times; 1: steps of bytes", 1, 1),
  whole("n", "iters", "timed iterations", 20, 1),
  whole("m", "agg_iters", "operations an iteration", 1, 1),
  whole("w", "warmup_iters", "untimed iterations of each warm-up size", 1, 0),
  whole("N", "run_cycles", "times to do it all; 0: until it is interrupted", 1, 0),
  whole("p", "parallel_init", "1: each thread opens its own ranks", 0, 0, 1),
  whole("c", "check", "rounds of checking every bit; 0: none", 1, 0),
  names("o", "op", opNames, ["sum"], opsOfAll),
  names("d", "datatype", typeNames, ["float"]),
  whole("r", "root", "-1: all, one after the other", 0, -1),
  whole("z", "blocking", "wait after each: 1 with a barrier, 2 and 3 without", 0, 0, 3),
  whole("y", "stream_null", "1: the null stream", 0, 0, 1),
  whole("T", "timeout", "seconds a wait may take; 0: any", 0, 0),
  whole("G", "cudagraph", "launches of a graph of all iterations", 0, 0),
  whole("C", "report_cputime", "1: the time to submit instead of the time until done", 0, 0, 1),
  whole("S", "report_timestamps", "1: when each row was measured", 0, 0, 1),
  {
    short: "J",
    long: "output_file",
    value: "file",
    meaning: "where to write JSON",
    byDefault: "",
    expects: 'a file, such as report.json, or ./- where it is to be named "-"',
    // Standard output has the table, which JSON would stand amidst.
    parse: (value) => (value === "-" ? undefined : value || undefined),
  },
  whole("a", "average", "over ranks: 0 rank 0, 1 average, 2 least, 3 most", 1, 0, 3),
  whole("R", "local_register", "1: register buffers, 2: as symmetric windows", 0, 0, 2),
  whole("x", "cta_policy", "bits of NCCL's CTA policy", 0, 0, 3),
  whole("D", "device_implementation", "which kernel of the device API; 0: the host API", 0, 0),
  whole("V", "device_cta_count", "blocks of that kernel", 0, 0),
  whole("M", "memory", "1: report what the library allocates", 0, 0, 1),
  whole("u", "unalign", "1: buffers begin one element after a boundary", 0, 0, 1),
  whole("I", "per_iter_timing", "1: time every iteration by itself", 0, 0, 1),
  whole("K", "per_iter_skip", "of the first iterations, in those figures", 0, 0),
  {
    long: "backend",
    value: backendNames.join(","),
    meaning: "what to measure, side by side",
    byDefault: ["cpu"],
    expects: `one or several of ${backendNames.join(", ")}, each once`,
    parse: parseBackends,
  },
  {
    long: "order",
    value: "same/random",
    meaning: "in which each rank submits what is concurrent",
    byDefault: "same",
    expects: "same or random",
    parse: (value) => (value === "same" || value === "random" ? value : undefined),
  },
  whole(undefined, "processes", "in each of which there are so many threads", 1, 1, 64),
  whole(undefined, "concurrent", "collectives in flight at a time on each rank", 1, 1, 4096),
  {
    long: "delay",
    value: "rank:microseconds",
    meaning: "one rank that begins each iteration late",
    byDefault: undefined,
    expects: "a rank and microseconds, such as 2:500",
    parse: parseDelay,
  },
  whole(undefined, "seed", "of the data and the random orders", 1, 0, 2 ** 31 - 1),
];

function whole(
  short: string | undefined,
  long: keyof PerfOptions,
  meaning: string,
  byDefault: number,
  least: number,
  most = 2 ** 31 - 1,
): OptionRow {
  const expects = most === 2 ** 31 - 1 ? `a whole number from ${least}` : `a whole number from ${least} to ${most}`;
  const parse = (value: string): number | undefined => {
    const number = Number(value);
    return /^-?\d+$/.test(value) && number >= least && number <= most ? number : undefined;
  };
  return { ...(short ? { short } : {}), long, value: "number", meaning, byDefault, expects, parse };
}

function size(short: string, long: keyof PerfOptions, meaning: string, byDefault: number): OptionRow {
  return { short, long, value: "bytes", meaning, byDefault, expects: "bytes, such as 8, 4K, 32M or 1G", parse: parseSize };
}

function names(short: string, long: "op" | "datatype", all: readonly (OpNameOrType & string)[], byDefault: Value, ofAll = all): OptionRow {
  const value = `${all.join("/")}/all`;
  const parse = (name: string): Value | undefined => {
    if (name === "all") return ofAll as Value;
    return all.includes(name as OpNameOrType) ? ([name] as unknown as Value) : undefined;
  };
  return { short, long, value, meaning: "one, or all", byDefault, expects: `one of ${all.join(", ")}, all`, parse };
}
type OpNameOrType = (typeof opNames)[number] | (typeof typeNames)[number];

function parseBackends(list: string): BackendName[] | undefined {
  const wanted = list.split(",");
  const known = wanted.filter((name): name is BackendName => (backendNames as readonly string[]).includes(name));
  return known.length === wanted.length && new Set(known).size === known.length ? known : undefined;
}

function parseDelay(value: string): Delay | undefined {
  const [, rank, micros] = /^(\d+):(\d+(?:\.\d+)?)$/.exec(value) ?? [];
  return rank === undefined || micros === undefined ? undefined : { rank: Number(rank), micros: Number(micros) };
}
