import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  type CollectiveName,
  type Measurement,
  type PerfBackend,
  PerfError,
  parseArguments,
  readEnvironment,
  runTest,
} from "@dfccl/collective-tests";
import { afterAll, describe, expect, it } from "vitest";
import { fakeBackend } from "./fake-backend.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-perf-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(
  args: readonly string[],
  backends: readonly PerfBackend[] = [fakeBackend()],
  variables: Record<string, string> = {},
  collective: CollectiveName = "all_reduce",
  lines: string[] = [],
): Promise<{ code: number; lines: string[] }> {
  const parsed = parseArguments(["-g", "2", ...args]);
  if (parsed.kind !== "run") throw new Error("help");
  const code = await runTest(
    { collective, options: parsed.options, args: [`${collective}_perf`, ...args] },
    { backends, environment: readEnvironment(variables), environmentLines: ["NCCL_DEBUG=INFO"], print: (line) => lines.push(line) },
  );
  return { code, lines };
}

describe("the text", () => {
  it("is the reference's, to the column", async () => {
    const { code, lines } = await run(["-b", "1M", "-e", "2M", "-f", "2"]);
    expect(`${lines.join("\n")}\n`).toBe(
      [
        "# nccl-tests version 2.19.6 nccl-headers=0 nccl-library=0",
        "# Collective test starting: all_reduce_perf",
        "# nThread 1 nGpus 2 minBytes 1048576 maxBytes 2097152 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0",
        "#",
        "# Using devices",
        "#  Rank  0 Group  0 Pid   4711 on       host device  0 [0000:00:00] Machine",
        "#  Rank  1 Group  0 Pid   4711 on       host device  1 [0000:00:00] Machine",
        "#",
        "#                                                              out-of-place                       in-place          ",
        "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong ",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         ",
        "     1048576        262144     float     sum      -1  1000.00    1.05    1.05       0  1000.00    1.05    1.05       0",
        "     2097152        524288     float     sum      -1  1000.00    2.10    2.10       0  1000.00    2.10    2.10       0",
        "# Out of bounds values : 0 OK",
        "# Avg bus bandwidth    : 1.57286 ",
        "#",
        "# Collective test concluded: all_reduce_perf",
        "",
        "#",
        "",
      ].join("\n"),
    );
    expect(code).toBe(0);
  });

  it("can be read column by column, whatever stands in it", async () => {
    const sides = { us: 123456789, wrong: null } as const;
    const { lines } = await run(["-b", "8", "-e", "8", "-S", "1"], [fakeBackend({ side: sides })], {}, "broadcast");
    const row = lines.find((line) => line.startsWith("           8")) ?? "";
    expect(row.trim().split(/\s+/)).toEqual("8 2 float none 0 1.2e+08 0.00 0.00 N/A 1.2e+08 0.00 0.00 N/A 2026-01-02 03:04:05".split(" "));
  });

  it("appends least, most, p99 and variation of the iterations to each side", async () => {
    const { lines } = await run(["-b", "1M", "-e", "1M", "-I", "1"], [fakeBackend({ side: { timesUs: [1, 2, 3] } })]);
    expect(lines.find((line) => line.startsWith("     1048576"))).toBe(
      `     1048576        262144     float     sum      -1${"  1000.00    1.05    1.05       0     1.00     3.00     3.00    40.82".repeat(2)}`,
    );
  });

  it("says what is switched on", async () => {
    const { lines } = await run(["-b", "8", "-e", "8", "-z", "1", "-p", "1", "-C", "1"]);
    expect(lines).toContain("# Blocking Enabled: wait for completion and barrier after each collective ");
    expect(lines).toContain("# Parallel Init Enabled: threads call into NcclInitRank concurrently ");
    expect(lines.find((line) => line.includes("cputime"))).toMatch(/ cputime {3}algbw/);
    expect((await run(["-b", "8", "-e", "8", "-z", "3"])).lines.join()).toContain("(no barrier)");
  });

  it("skips the hypercube of ranks that are no power of two", async () => {
    const { code, lines } = await run(["-g", "3", "-b", "8", "-e", "8"], undefined, {}, "hypercube");
    expect(lines).toContain("nRanks 3 is not a power of 2, skipping");
    expect(code).toBe(0);
  });

  it("gives backends that are started for each size buffers for the largest, so that no cache is measured", async () => {
    const asked: Measurement[] = [];
    const onMeasure = (measurement: Measurement): void => void asked.push(measurement);
    await run(
      ["-b", "8", "-e", "1M", "-f", "131072", "--backend", "cpu,mpi"],
      [fakeBackend({ onMeasure }), fakeBackend({ name: "mpi", onMeasure })],
    );
    expect(asked.map(({ cases }) => cases.map(({ bytes }) => bytes))).toEqual([[8], [8], [1048576], [1048576]]);
    for (const { buffersFor } of asked) expect(buffersFor?.map(({ bytes }) => bytes)).toEqual([8, 1048576]);
  });

  it("shows backends beside each other, and how many times faster the first one is", async () => {
    const mpi = fakeBackend({ name: "mpi", us: 5000, inPlace: { refusal: "it can't" } });
    const { lines } = await run(["-b", "1M", "-e", "1M", "--backend", "cpu,mpi"], [fakeBackend(), mpi]);
    expect(lines.find((line) => line.startsWith("     1048576"))).toBe(
      "     1048576        262144     float     sum      -1  1000.00    1.05    1.05       0  1000.00    1.05    1.05       0" +
        "  5000.00    0.21    0.21       0      N/A     N/A     N/A     N/A       5.00        N/A",
    );
    expect(lines).toContain("# N/A: mpi, in place: it can't.");
  });
});

describe("the average of several backends", () => {
  const backends = [fakeBackend(), fakeBackend({ name: "mpi", us: 4000 })];
  const args = ["-b", "1M", "-e", "1M", "--backend", "cpu,mpi"];

  it("is one for each, and JSON's is the first one's", async () => {
    const path = join(folder, "averages.json");
    const { lines } = await run([...args, "-J", path], backends);
    const averages = lines.filter((line) => line.startsWith("# Avg bus bandwidth"));
    expect(averages).toEqual(["# Avg bus bandwidth    : 1.04858 cpu ", "# Avg bus bandwidth    : 0.262144 mpi "]);
    const { average_bus_bandwidth, dfccl } = JSON.parse(readFileSync(path, "utf8"));
    rmSync(path);
    expect(average_bus_bandwidth.bandwidth).toBe(1.048576);
    expect(dfccl.backends).toMatchObject([{ average_bus_bandwidth: 1.048576 }, { average_bus_bandwidth: 0.262144 }]);
  });

  it("is nan for one that measures nothing", async () => {
    const nothing = fakeBackend({ name: "mpi", outOfPlace: { refusal: "no" }, inPlace: { refusal: "no" } });
    expect((await run(args, [fakeBackend(), nothing])).lines).toContain("# Avg bus bandwidth    : nan mpi ");
  });

  it("must be what NCCL_TESTS_MIN_BW demands for the first one", async () => {
    const { code, lines } = await run(args, backends, { NCCL_TESTS_MIN_BW: "1" });
    expect(lines).toContain("# Avg bus bandwidth    : 1.04858 cpu OK");
    expect(code).toBe(0);
    expect((await run(["-b", "1M", "-e", "1M", "--backend", "mpi,cpu"], backends, { NCCL_TESTS_MIN_BW: "1" })).code).toBe(7);
  });
});

describe("the JSON", () => {
  it("has the keys of version 3, in their order, and a run that is repeated replaces it", async () => {
    const path = join(folder, "out.json");
    const { lines } = await run(["-b", "1M", "-e", "1M", "-J", path, "-I", "1"], [fakeBackend({ side: { timesUs: [1, 2, 3] } })]);
    expect(lines[0]).toBe(`# Writing JSON output to ${path}`);
    const report = JSON.parse(readFileSync(path, "utf8"));
    expect(Object.keys(report)).toEqual(
      "version start_time args env nccl_version config results out_of_bounds average_bus_bandwidth errors end_time dfccl".split(" "),
    );
    expect(Object.keys(report.config)).toEqual(
      (
        "nthreads ngpus minimum_bytes maximum_bytes step_bytes warmup_iters iterations aggregated_iterations validation graph " +
        "blocking_collectives per_iter_timing per_iter_skip parallel_init devices"
      ).split(" "),
    );
    expect(Object.keys(report.config.devices[0])).toEqual("rank group pid hostname device device_hex device_info".split(" "));
    expect(report.results).toEqual([
      {
        size: 1048576,
        count: 262144,
        type: "float",
        redop: "sum",
        root: "    -1",
        out_of_place: { time: 1000, alg_bw: 1.048576, bus_bw: 1.048576, nwrong: 0 },
        out_of_place_per_iter: expect.objectContaining({ min_us: 1, times_us: [1, 2, 3] }),
        in_place: { time: 1000, alg_bw: 1.048576, bus_bw: 1.048576, nwrong: 0 },
        in_place_per_iter: expect.anything(),
        actual_iterations: 20,
        experiment_name: "AllReduce",
      },
    ]);
    expect(Object.keys(report.results[0].out_of_place_per_iter)).toEqual(
      "skipped_iterations min_us max_us avg_us p50_us p95_us p99_us stdev_us cv_pct times_us".split(" "),
    );
    expect(report).toMatchObject({
      version: 3,
      env: ["NCCL_DEBUG=INFO"],
      out_of_bounds: { count: 0, okay: "true" },
      average_bus_bandwidth: { bandwidth: 1.048576, okay: "unchecked" },
    });
    const again = await run(["-b", "8", "-e", "8", "-f", "2", "-J", path, "-C", "1"]);
    expect(again.lines[0]).toBe(`# Writing JSON output to ${path}`);
    const second = JSON.parse(readFileSync(path, "utf8"));
    expect(second.config).toMatchObject({ step_factor: 2 });
    expect(second.results[0].out_of_place).toMatchObject({ cpu_time: 100 });
    expect(readdirSync(folder)).toEqual(["out.json"]);
  });

  it("of two runs at a time is the last one's, and whole", async () => {
    const path = join(mkdtempSync(join(folder, "two-")), "out.json");
    await Promise.all([1, 2].map(() => run(["-b", "8", "-e", "1M", "-f", "8", "-J", path])));
    expect(JSON.parse(readFileSync(path, "utf8")).results).toHaveLength(6);
    expect(readdirSync(dirname(path))).toEqual(["out.json"]);
  });

  it("goes where a symbolic link leads, and the link stays", async () => {
    const linked = mkdtempSync(join(folder, "linked-"));
    symlinkSync(join(linked, "real.json"), join(linked, "link.json"));
    writeFileSync(join(linked, "real.json"), "old");
    await run(["-b", "8", "-e", "8", "-J", join(linked, "link.json")]);
    expect(lstatSync(join(linked, "link.json")).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(join(linked, "real.json"), "utf8")).version).toBe(3);
  });

  it("goes into a device, which nothing replaces", async () => {
    expect((await run(["-b", "8", "-e", "8", "-J", "/dev/null"])).code).toBe(0);
    expect(lstatSync("/dev/null").isCharacterDevice()).toBe(true);
  });

  it("that can't be written is refused before anything is measured", async () => {
    const failure = { code: "BAD_ARGUMENT", exitCode: 255, facts: { path: "/nowhere/out.json", reason: "ENOENT" } };
    await expect(run(["-b", "8", "-e", "8", "-J", "/nowhere/out.json"], [])).rejects.toMatchObject(failure);
  });

  const full = { code: "NO_OUTPUT", exitCode: 1, facts: { path: "/dev/full", reason: "ENOSPC" } };

  it("that a full disk doesn't take is named by the error, with a remedy", async () => {
    const error = await run(["-b", "8", "-e", "8", "-J", "/dev/full"]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      ...full,
      message: expect.stringMatching(/^Nothing can be written to \/dev\/full \(ENOSPC\)\. Make room/),
    });
  });

  it("that a full disk doesn't take is told of beside what stopped the run", async () => {
    const lines: string[] = [];
    const error = new PerfError("RANK_DIED", "rank 1 died.", "Look.");
    const failed = run(["-b", "8", "-e", "8", "-J", "/dev/full"], [fakeBackend({ fails: error })], {}, "all_reduce", lines);
    await expect(failed).rejects.toBe(error);
    expect(lines.at(-1)).toMatch(/^# Nothing can be written to \/dev\/full/);
  });

  it("leaves nothing unfinished where it can't be put in its place", async () => {
    const own = mkdtempSync(join(folder, "taken-"));
    const path = join(own, "out.json");
    const taken = fakeBackend({ onMeasure: () => mkdirSync(path) });
    await expect(run(["-b", "8", "-e", "8", "-J", path], [taken])).rejects.toMatchObject({ code: "NO_OUTPUT", facts: { path } });
    expect(readdirSync(own)).toEqual(["out.json"]);
  });

  it("holds what was measured before a failure, and the failure", async () => {
    const path = join(folder, "failed.json");
    const error = new PerfError("RANK_DIED", "rank 1 died.", "Look.");
    await expect(run(["-b", "8", "-e", "8", "-J", path], [fakeBackend({ fails: error })])).rejects.toMatchObject({ exitCode: 1 });
    expect(JSON.parse(readFileSync(path, "utf8")).errors).toEqual([expect.stringContaining("rank 1 died")]);
  });
});

describe("the end", () => {
  it("is 7 where a result is wrong", async () => {
    const { code, lines } = await run(["-b", "8", "-e", "8"], [fakeBackend({ side: { wrong: 3 } })]);
    expect(lines).toContain("# Out of bounds values : 6 FAILED");
    expect(code).toBe(7);
  });

  it.each([
    ["1.16", 0, "OK"],
    ["1.17", 7, "FAILED"],
  ])("with NCCL_TESTS_MIN_BW=%s and 1.048576 GB/s is %d", async (demand, exit, verdict) => {
    const { code, lines } = await run(["-b", "1M", "-e", "1M"], undefined, { NCCL_TESTS_MIN_BW: demand });
    expect(lines).toContain(`# Avg bus bandwidth    : 1.04858 ${verdict}`);
    expect(code).toBe(exit);
  });

  it.each([
    [["-y", "1"], /stream_null.*no CUDA streams/],
    [["-G", "2"], /cudagraph.*no CUDA graphs/],
    [["-R", "1"], /local_register/],
    [["-x", "1"], /cta_policy/],
    [["-D", "1"], /device_implementation/],
    [["-V", "4"], /device_cta_count/],
    [["--backend", "noop", "-M", "1"], /memory.*noop/],
    [["--backend", "mpi", "--order", "random", "--concurrent", "4"], /order.*deadlock/],
    [["--processes", "2"], /processes.*in one process/],
    [["--backend", "mpi", "--processes", "2"], /processes.*a process for each rank/],
  ])("with %j, which can't apply here, is 5 with the reason", async (args, message) => {
    await expect(run(args)).rejects.toMatchObject({ exitCode: 5, code: "NOT_FOR_THIS_BACKEND", message: expect.stringMatching(message) });
  });

  it("is 5 for a backend that is missing", async () => {
    await expect(run(["--backend", "nccl"])).rejects.toMatchObject({ exitCode: 5, code: "BACKEND_MISSING" });
  });

  it("comes at smaller sizes where memory ends, and at once where even the smallest doesn't fit", async () => {
    const small = fakeBackend({ memoryBytes: 2 ** 30 + 3 * 2 ** 21 });
    const { lines } = await run(["-b", "1M", "-e", "8M", "-f", "2"], [small]);
    expect(lines).toContain("#\n# Reducing maxBytes to 2097152 due to memory limitation");
    expect(lines.filter((line) => /^ +\d/.test(line))).toHaveLength(2);
    await expect(run(["-b", "4M", "-e", "8M"], [small])).rejects.toMatchObject({ exitCode: 6 });
  });

  it("leaves no file behind where nothing could run", async () => {
    const path = join(folder, "none.json");
    await expect(run(["-y", "1", "-J", path])).rejects.toThrow();
    expect(existsSync(path)).toBe(false);
  });
});
