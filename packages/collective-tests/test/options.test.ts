import { casesOf, exitCodes, optionTable, PerfError, type PerfOptions, parseArguments, usage } from "@dfccl/collective-tests";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const million = 2 ** 20;
const types = ["int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16", "f8e4m3", "f8e5m2"];

/** nccl-tests 2.19.6: letter, name, default, a value that is good, what it means, values that are bad. */
const reference: readonly [string, keyof PerfOptions, unknown, string, unknown, readonly string[]][] = [
  ["t", "nthreads", 1, "4", 4, ["0", "-1", "x", "1.5", ""]],
  ["g", "ngpus", 1, "8", 8, ["0", "two"]],
  ["b", "minbytes", 32 * million, "8", 8, ["-8", "8T", "8KB", "0x10", ""]],
  ["e", "maxbytes", 32 * million, "1G", 1024 * million, ["big"]],
  ["i", "stepbytes", million, "4K", 4096, ["-1"]],
  ["f", "stepfactor", 1, "2", 2, ["0", "-2", "1.5"]],
  ["n", "iters", 20, "100", 100, ["0", "-1", "many"]],
  ["m", "agg_iters", 1, "4", 4, ["0"]],
  ["w", "warmup_iters", 1, "0", 0, ["-1"]],
  ["N", "run_cycles", 1, "0", 0, ["-1"]],
  ["p", "parallel_init", 0, "1", 1, ["2"]],
  ["c", "check", 1, "0", 0, ["-1"]],
  ["o", "op", ["sum"], "mulsum", ["mulsum"], ["median", "SUM"]],
  ["d", "datatype", ["float"], "f8e4m3", ["f8e4m3"], ["float32", "quad"]],
  ["r", "root", 0, "-1", -1, ["-2", "1"]],
  ["z", "blocking", 0, "3", 3, ["4", "-1"]],
  ["y", "stream_null", 0, "1", 1, ["2"]],
  ["T", "timeout", 0, "30", 30, ["-1", "soon"]],
  ["G", "cudagraph", 0, "10", 10, ["-1"]],
  ["C", "report_cputime", 0, "1", 1, ["2"]],
  ["S", "report_timestamps", 0, "1", 1, ["2"]],
  ["J", "output_file", "", "out.json", "out.json", ["", "-"]],
  ["a", "average", 1, "3", 3, ["4", "-1"]],
  ["R", "local_register", 0, "2", 2, ["3"]],
  ["x", "cta_policy", 0, "1", 1, ["-1"]],
  ["D", "device_implementation", 0, "1", 1, ["-1"]],
  ["V", "device_cta_count", 0, "16", 16, ["-1"]],
  ["M", "memory", 0, "1", 1, ["2"]],
  ["u", "unalign", 0, "1", 1, ["2"]],
  ["I", "per_iter_timing", 0, "1", 1, ["2"]],
  ["K", "per_iter_skip", 0, "5", 5, ["-1"]],
];
const additional: readonly [keyof PerfOptions, unknown, string, unknown, readonly string[]][] = [
  ["backend", ["cpu"], "cpu,mpi", ["cpu", "mpi"], ["gpu", "cpu,cpu", "", "cpu,"]],
  ["order", "same", "random", "random", ["sorted"]],
  ["processes", 1, "4", 4, ["0", "65"]],
  ["concurrent", 1, "16", 16, ["0", "5000"]],
  ["delay", undefined, "0:12.5", { rank: 0, micros: 12.5 }, ["1", "1:", "a:1", "1:-5"]],
  ["seed", 1, "7", 7, ["-1"]],
];

function options(...args: string[]): PerfOptions {
  const parsed = parseArguments(args);
  if (parsed.kind !== "run") throw new Error("help");
  return parsed.options;
}

function errorOf(...args: string[]): PerfError {
  try {
    options(...args);
  } catch (error) {
    if (error instanceof PerfError) return error;
    throw error;
  }
  throw new Error(`${args.join(" ")} was taken`);
}

describe("every option of the reference", () => {
  it("is there, and no other has a letter", () => {
    expect(optionTable.flatMap(({ short, long }) => (short ? [[short, long]] : []))).toEqual(reference.map(([s, l]) => [s, l]));
    expect(optionTable.flatMap(({ short, long }) => (short ? [] : [long]))).toEqual(additional.map(([long]) => long));
  });

  // Sizes and roots only mean something together with others.
  const context: Readonly<Record<string, readonly string[]>> = { maxbytes: ["-b", "8"], root: ["-g", "4"] };

  it.each(reference)("-%s, --%s: default, value, forms", (short, long, byDefault, text, value, bad) => {
    const more = context[long] ?? [];
    expect(options()[long]).toEqual(byDefault);
    for (const form of [[`-${short}`, text], [`-${short}${text}`], [`--${long}`, text], [`--${long}=${text}`]]) {
      expect(options(...more, ...form)[long]).toEqual(value);
    }
    for (const wrong of bad) {
      const error = errorOf(`--${long}`, wrong);
      expect(error.exitCode).toBe(exitCodes.badArguments);
      expect(error.message).toContain(long);
    }
    expect(errorOf(`-${short}`).message).toContain("needs a value");
  });

  it.each(additional)("--%s: default and values", (long, byDefault, text, value, bad) => {
    expect(options()[long]).toEqual(byDefault);
    expect(options(`--${long}`, text)[long]).toEqual(value);
    for (const wrong of bad) expect(errorOf(`--${long}`, wrong).exitCode).toBe(255);
  });

  it("takes all for types and operators, in the reference's order", () => {
    expect(options("-d", "all").datatype).toEqual(types);
    expect(options("-o", "all").op).toEqual(["sum", "prod", "max", "min", "avg", "mulsum"]);
  });

  it("takes MPI's operators of bits by name, for integers", () => {
    expect(parseArguments(["-o", "band"], "all_gather").kind).toBe("run");
    for (const op of ["band", "bor", "bxor"]) expect(options("-o", op, "-d", "int32").op).toEqual([op]);
    const cases = casesOf("all_reduce", options("-o", "band", "-d", "all", "-b", "8", "-e", "8"));
    expect(cases.map(({ type }) => type)).toEqual(["int8", "uint8", "int32", "uint32", "int64", "uint64"]);
  });
});

describe("a command line", () => {
  it.each([
    [["-q"], /no option -q/],
    [["--bytes", "8"], /no option --bytes/],
    [["8"], /"8" is no option/],
    [["--"], /no option --/],
    [["--m", "8"], /may be --minbytes, --maxbytes, --memory/],
    [["-b", "8K", "-e", "4K"], /8192 is more than --maxbytes 4096/],
    [["-I", "1", "-G", "2"], /can't be combined with -G/],
    [["-o", "band"], /--op band is for integers: --datatype float/],
    [["-J", "-"], /^-J can't be "-"\. It must be a file, such as report\.json/],
    [["-g", "2", "-r", "2"], /--root 2 is no rank: there are 2/],
    [["-g", "2", "--delay", "2:5"], /--delay names rank 2/],
  ])("%j is refused with 255 and a remedy", (args, message) => {
    const error = errorOf(...args);
    expect(error.message).toMatch(message);
    expect(error).toMatchObject({ code: "BAD_ARGUMENT", exitCode: 255, remedy: expect.stringMatching(/\.$/) });
  });

  it("asks for help with -h, --help and its beginnings, before anything is checked", () => {
    for (const word of ["-h", "--help", "--he"]) expect(parseArguments([word])).toEqual({ kind: "help" });
    expect(parseArguments(["-b", "8", "-h"])).toEqual({ kind: "help" });
    for (const [short, long] of reference) expect(usage("all_reduce_perf")).toContain(`[-${short},--${long} <`);
  });

  it("takes a file whose name is a dash by its path", () => {
    expect(options("-J", "./-").output_file).toBe("./-");
  });

  it("takes the beginning of a long name that only one option has", () => {
    expect(options("--minb", "8", "--warm=3")).toMatchObject({ minbytes: 8, warmup_iters: 3 });
  });

  it("never throws anything else, whatever is typed", () => {
    const words = fc.oneof(fc.string(), fc.constantFrom("-b", "--op", "-e8", "--iters=", "--backend", "-1", "1G", "all", "--", "-"));
    fc.assert(
      fc.property(fc.array(words, { maxLength: 6 }), (args) => {
        try {
          parseArguments(args);
        } catch (error) {
          expect(error).toBeInstanceOf(PerfError);
        }
      }),
    );
  });
});
