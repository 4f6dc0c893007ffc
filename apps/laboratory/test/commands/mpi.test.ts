import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeClone, makeFakeClone } from "./fake-clone.js";
import { type Finished, runCommand, type When } from "./run-command.js";

let clone: FakeClone;
beforeEach(() => {
  clone = makeFakeClone();
  clone.tool("cmake", `echo "cmake $*" >> "${clone.root}/log"`);
  clone.tool(
    "mpirun",
    `[ "$1" = --version ] && { echo "mpirun (Open MPI) 4.1.4"; exit; }; echo "mpirun $*" >> "${clone.root}/log"; ${answer("openmpi", 30)}`,
  );
  clone.program("openmpi_allreduce_mpi", "exit 1");
  clone.program(
    "allreduce_bench",
    `echo "ours $*" >> "${clone.root}/log"; echo '{"probe":true,"cores":2,"coreRoundTripNs":85,"copyGBs":24.5}'; ${answer("dfccl", 10)}`,
  );
});
afterEach(() => clone.remove());

function answer(engine: string, us: number, wrong = 0): string {
  return `echo '{"engine":"${engine}","us":${us},"wrong":${wrong}}'`;
}

function measure(args: readonly string[], when?: When): Promise<Finished> {
  return runCommand(["mpi", ...args], clone, when);
}

describe("npm run bench:mpi", () => {
  it("builds, then lets ours and OpenMPI's take turns for each size", async () => {
    const { code, stdout } = await measure(["-r", "2", "-b", "8,4K", "-n", "2"]);
    expect(stdout).toMatch(/8 B +2 +10\.0 µs +30\.0 µs +3\.0×\n +4 KiB +2 +10\.0 µs +30\.0 µs +3\.0×\n/);
    expect(stdout).toContain("OpenMPI 4.1.4");
    expect(stdout).toContain("85 ns from core to core and back, one core copies 24.5 GB/s");
    const log = readFileSync(join(clone.root, "log"), "utf8").split("\n");
    expect(log[1]).toMatch(/^cmake --build --preset release --target bench/);
    const measured = log.slice(3).map((line) => `${line.split(" ")[0]} ${/--bytes (\d+)/.exec(line)?.[1]}`);
    expect(measured.slice(0, 8)).toEqual([
      "ours 8",
      "mpirun 8",
      "ours 8",
      "mpirun 8",
      "ours 4096",
      "mpirun 4096",
      "ours 4096",
      "mpirun 4096",
    ]);
    expect(code).toBe(0);
  });

  it("writes rows with a header, and a page, and nothing else to standard output for -", async () => {
    const page = join(clone.root, "mpi.md");
    const { code, stdout } = await measure(["--quick", "--json", "-", "--markdown", page]);
    const { header, rows } = JSON.parse(stdout);
    expect(header).toMatchObject({
      command: `npm run bench:mpi -- --quick --json - --markdown ${page}`,
      openmpi: "4.1.4",
      mode: "caller",
      repetitions: 1,
      probe: { cores: 2, coreRoundTripNs: 85, copyGBs: 24.5 },
      machine: { cores: expect.any(Number), cpu: expect.any(String), loadBefore: expect.any(Number) },
    });
    expect(rows).toHaveLength(10);
    expect(rows[0]).toMatchObject({ bytes: 8, ranks: 2, oursUs: 10, openmpiUs: 30, ratio: 3 });
    expect(rows[4]).toMatchObject({ bytes: 102_228_128, ranks: 2, tensors: "resnet50" });
    expect(readFileSync(page, "utf8")).toContain("| ResNet-50's 161 tensors | 8 | 10.0 µs | 30.0 µs | 3.0× |");
    expect(code).toBe(0);
  });

  it("says how to get OpenMPI where there is none", async () => {
    clone.program("allreduce_bench", "exit 1");
    clone.tool("cmake", `/bin/rm -f "${clone.root}/bin/mpirun"`);
    const { code, stderr } = await measure(["--quick"]);
    expect(stderr.replaceAll("\n", " ")).toContain(
      "OpenMPI, to compare with, is missing: mpirun is not on the PATH. Type: apt-get install openmpi-bin libopenmpi-dev",
    );
    expect(code).toBe(1);
  });

  it("says what the compiler said", async () => {
    clone.tool("cmake", "echo 'error: no member named flush'; exit 1");
    const { code, stderr } = await measure(["--quick"]);
    expect(stderr).toContain("error: no member named flush");
    expect(code).toBe(1);
  });

  it("fails on a wrong result, and keeps what was measured before", async () => {
    clone.program("allreduce_bench", `case "$*" in *4096*) ${answer("dfccl", 10, 5)};; *) ${answer("dfccl", 10)};; esac`);
    const { code, stdout, stderr } = await measure(["-r", "2", "-b", "8,4K", "-n", "1"]);
    expect(stdout).toMatch(/8 B +2 +10\.0 µs/);
    expect(stdout).not.toContain("4 KiB");
    expect(stderr.replaceAll("\n", " ")).toContain("5 elements of dfccl's results are wrong");
    expect(code).toBe(1);
  });

  it("prints what was measured when it is interrupted, and writes no file", async () => {
    clone.program("allreduce_bench", `case "$*" in *4096*) /bin/sleep 1000;; *) ${answer("dfccl", 10)};; esac`);
    const json = join(clone.root, "mpi.json");
    const { code, stdout } = await measure(["-r", "2", "-b", "8,4K", "-n", "1", "--json", json], ["50%", (child) => child.kill("SIGINT")]);
    expect(stdout).toMatch(/8 B +2 +10\.0 µs/);
    expect(stdout).toContain("Interrupted: a partial result, and no file is written.");
    expect(existsSync(json)).toBe(false);
    expect(code).toBe(130);
  });
});
