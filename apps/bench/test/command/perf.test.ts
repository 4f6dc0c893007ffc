import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { escapeCharacter, type Finished, runCommand } from "./run-command.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-perf-command-"));
afterAll(() => rmSync(folder, { recursive: true }));

function perf(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
  return runCommand(["perf", ...args], { env });
}

describe("dfccl perf", () => {
  it("is the same as the program of that name", async () => {
    const args = ["-g", "2", "-b", "8", "-e", "64", "-f", "8", "-n", "2"];
    const [command, bin] = await Promise.all([
      perf(["all_reduce_perf", ...args]),
      runCommand(args, {
        command: new URL("../../dist/bins/all-reduce-perf.js", import.meta.url).pathname,
      }),
    ]);
    // Times and processes differ, and with them how wide a figure is; nothing else does.
    const timings = new Set([5, 6, 7, 9, 10, 11]);
    const shape = ({ stdout }: Finished): string[][] =>
      stdout.split("\n").map((line) => {
        const words = line
          .replaceAll(/Pid +\d+|bandwidth +: \S+/g, "N")
          .split(/ +/)
          .filter(Boolean);
        return /^\d/.test(words[0] ?? "") ? words.map((word, column) => (timings.has(column) ? "N" : word)) : words;
      });
    expect(shape(command)).toEqual(shape(bin));
    expect(command.stdout).toContain("# Out of bounds values : 0 OK\n");
    expect(command.stdout).not.toContain(escapeCharacter);
    expect([command.code, bin.code]).toEqual([0, 0]);
  });

  it("lists every option with -h, and ends with 0", async () => {
    const { code, stdout } = await perf(["alltoallv", "-h"]);
    expect(stdout).toMatch(/^USAGE: alltoallv_perf\n +\[-t,--nthreads <number>\] .* \[1\]\n/);
    expect(code).toBe(0);
  });

  it.each([
    ["an unknown option", ["-q"], 255, /no option -q/],
    ["a bad number", ["-n", "few"], 255, /-n can't be "few". It must be a whole number from 1/],
    ["sizes upside down", ["-b", "8M", "-e", "4M"], 255, /more than --maxbytes/],
    ["more ranks than there can be", ["-g", "2000", "-b", "8", "-e", "8"], 5, /Invalid number of ranks: 2000 requested/],
    ["more memory than there is", ["-g", "2", "-b", "4000G", "-e", "4000G"], 6, /no memory for/],
    ["NCCL, which is missing", ["--backend", "nccl"], 5, /backend nccl is missing/],
    ["GPUs, which are missing", ["--backend", "cpu,cuda", "-b", "8", "-e", "8"], 5, /backend cuda is missing/],
    ["what can't apply", ["-G", "1"], 5, /--cudagraph can't apply to the backend cpu/],
  ])("ends for %s with the reference's code and a remedy", async (_, args, exit, message) => {
    const { code, stderr } = await perf(["all_reduce", ...args]);
    expect(stderr.replaceAll("\n", " ")).toMatch(message);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(code).toBe(exit);
  });

  it("ends with 5 where OpenMPI is missing, and says what to type", async () => {
    const { code, stderr } = await perf(["all_reduce", "--backend", "mpi"], { PATH: folder });
    expect(stderr.replaceAll("\n", " ")).toMatch(/mpirun is not on the PATH. Type: apt-get install openmpi-bin/);
    expect(code).toBe(5);
  });

  it("ends with 4, the rank and its collective where a rank never comes, and keeps that in the JSON", async () => {
    const path = join(folder, "late.json");
    const { code, stderr } = await perf(["all_reduce", "-g", "4", "-b", "8", "-e", "8", "-T", "1", "-J", path], {
      DFCCL_PERF_FAULT: "die:3",
    });
    expect(stderr).toMatch(/rank 3 has not submitted it/);
    expect(code).toBe(4);
    expect(JSON.parse(readFileSync(path, "utf8")).errors).toEqual([expect.stringMatching(/rank 3/)]);
  });

  it("ends with 7 where a bit is wrong", async () => {
    const { code, stdout } = await perf(["all_reduce", "-g", "2", "-b", "1K", "-e", "1K"], { DFCCL_PERF_FAULT: "flip:1" });
    expect(stdout).toContain("# Out of bounds values : 2 FAILED\n");
    expect(code).toBe(7);
  });

  describe("beside OpenMPI, for which scripts stand", () => {
    const row = (side: string): string => `{"row":1,"cycle":0,"outOfPlace":${side},"inPlace":{"refusal":"it is only a script"}}`;

    function mpi(script: string): Readonly<Record<string, string>> {
      const bin = mkdtempSync(join(folder, "bin-"));
      const tool = (name: string, text: string): void => writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
      tool("mpirun", `if [ "$1" = --version ]; then echo "mpirun (Open MPI) 4.1.4"; exit 0; fi\n${script}`);
      tool("openmpi_perf_mpi", "exit 1");
      symlinkSync(join(process.env.DFCCL_PERF_PROGRAMS ?? "", "perf_bench"), join(bin, "perf_bench"));
      return { DFCCL_PERF_PROGRAMS: bin, PATH: `${bin}:/usr/bin:/bin` };
    }

    it("shows both, and how many times faster the engine is", async () => {
      const path = join(folder, "both.json");
      const args = ["all_reduce", "-g", "2", "-b", "64", "-e", "64", "--backend", "cpu,mpi", "-J", path];
      const { code, stdout } = await perf(args, mpi(`echo '${row('{"us":1e6,"cpuUs":1e6,"wrong":0}')}'`));
      expect(stdout).toMatch(/-- cpu --.*-- mpi --.*cpu:mpi +cpu:mpi\n/);
      expect(stdout).toMatch(/\n +64 +16 +float .* {2}1000000 {4}0\.00 {4}0\.00 {7}0( +N\/A){4} +\d[\d.e+]+ +N\/A\n/);
      expect(stdout).toContain("# N/A: mpi, in place: it is only a script.\n");
      const { results, dfccl } = JSON.parse(readFileSync(path, "utf8"));
      expect(results.map(({ backend }: { backend: string }) => backend)).toEqual(["cpu", "mpi"]);
      expect(dfccl.backends).toMatchObject([{ name: "cpu" }, { name: "mpi", version: "4.1.4" }]);
      expect(dfccl.machine.coreRoundTripNs).toBeGreaterThan(0);
      expect(code).toBe(0);
    });

    it("names the rank that died, and its signal", async () => {
      const died = "mpirun noticed that process rank 2 with PID 0 on node vm exited on signal 9 (Killed).";
      const { code, stderr } = await perf(
        ["all_reduce", "-g", "4", "-b", "8", "-e", "8", "--backend", "mpi"],
        mpi(`echo "${died}" >&2; exit 137`),
      );
      expect(stderr).toMatch(/mpi: rank 2 died, by signal 9 \(Killed\)\./);
      expect(code).toBe(1);
    });
  });

  describe("on GPUs, for which a script stands", () => {
    const gpus = [0, 1].map((device) => `{"device":${device},"bus":"0000:0${device}:00.0","name":"Some GPU","memoryBytes":150000000000}`);
    const found = `{"version":"2.28.3","driver":"580","devices":[${gpus.join(",")}]}`;
    const missing = `{"error":"NCCL is nowhere.","remedy":"Set NCCL_LIBRARY.","exit":5}`;
    const side = '{"us":2,"cpuUs":1,"wrong":0}';

    /** Answers probes; then each row that it is asked for. */
    function gpu(options: { readonly nccl?: string; readonly onRow?: string } = {}): Readonly<Record<string, string>> {
      const bin = mkdtempSync(join(folder, "gpu-"));
      const script = `#!/bin/sh
if [ "$3" = --probe ]; then if [ "$2" = nccl ]; then echo '${options.nccl ?? found}'; else echo '${found}'; fi; exit; fi
echo "started $*" >> ${bin}/log
while read -r row cycle; do
  echo "$2 $row $cycle" >> ${bin}/log
  ${options.onRow ?? ""}
  echo "{\\"row\\":$row,\\"cycle\\":$cycle,\\"outOfPlace\\":${side.replaceAll('"', '\\"')},\\"inPlace\\":${side.replaceAll('"', '\\"')}}"
done
`;
      writeFileSync(join(bin, "perf_gpu"), script, { mode: 0o755 });
      return { DFCCL_PERF_PROGRAMS: bin };
    }
    const both = ["all_reduce", "-g", "2", "-b", "8", "-e", "64", "-f", "8", "--backend", "cuda,nccl"];

    it("measures both by turns, in programs that stay", async () => {
      const env = gpu();
      const path = join(folder, "gpus.json");
      const { code, stdout } = await perf([...both, "-w", "0", "-N", "2", "-J", path], env);
      expect(stdout).toMatch(/# {2}Rank {2}1 .* device {2}1 \[0000:01:00\] Some GPU\n/);
      expect(stdout).toMatch(/-- cuda --.*-- nccl --.*cuda:nccl +cuda:nccl\n/);
      const log = readFileSync(join(env.DFCCL_PERF_PROGRAMS ?? "", "log"), "utf8").split("\n");
      expect(log.filter((line) => line.startsWith("started"))).toHaveLength(2);
      const turns = [0, 1].flatMap((cycle) => [0, 1].flatMap((row) => [`cuda ${row} ${cycle}`, `nccl ${row} ${cycle}`]));
      expect(log.filter((line) => /^(cuda|nccl) /.test(line))).toEqual(turns);
      expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ nccl_version: 22803, dfccl: { machine: { driver: "580" } } });
      expect(code).toBe(0);
    });

    it("begins with the GPU that NCCL_TESTS_DEVICE names, and ends with 5 where that makes too few", async () => {
      const env = { ...gpu(), NCCL_TESTS_DEVICE: "1" };
      const { stdout } = await perf(["all_reduce", "-b", "8", "-e", "8", "--backend", "cuda"], env);
      expect(stdout).toMatch(/# {2}Rank {2}0 .* device {2}1 \[0000:01:00\]/);
      const { code, stderr } = await perf(both, env);
      expect(stderr.replaceAll("\n", " ")).toMatch(/2 requested from GPU 1 on, and there are 2. Ask for fewer: -t, -g, NCCL_TESTS_DEVICE/);
      expect(code).toBe(5);
    });

    it("ends with 5 and the remedy where NCCL is missing", async () => {
      const { code, stderr } = await perf(both, gpu({ nccl: missing }));
      expect(stderr.replaceAll("\n", " ")).toMatch(/The backend nccl is missing: NCCL is nowhere. Set NCCL_LIBRARY\./);
      expect(code).toBe(5);
    });

    it.each([
      ["says why", `echo '{"error":"rank 1 is late","exit":4}'; exit 4`, 4, /cuda: rank 1 is late/],
      ["just dies", "echo Segmentation >&2; kill -9 $$", 1, /cuda ended with SIGKILL.*Segmentation/],
    ])("ends with what went wrong where the program %s", async (_, onRow, exit, message) => {
      const { code, stderr } = await perf(both, gpu({ onRow }));
      expect(stderr.replaceAll("\n", " ")).toMatch(message);
      expect(code).toBe(exit);
    });

    it.each([
      ["-y", "--stream_null can't apply to the backend cuda: its runs are on no stream"],
      ["-R", "--local_register can't apply to the backend cuda: it needs no registration"],
    ])("refuses %s with the reason", async (option, reason) => {
      const { code, stderr } = await perf([...both, option, "1"], gpu());
      expect(stderr.replaceAll("\n", " ")).toContain(reason);
      expect(code).toBe(5);
    });
  });

  it("stops when it is interrupted", async () => {
    const { code, stderr } = await runCommand(["perf", "all_reduce", "-g", "2", "-b", "8", "-e", "8", "-N", "0"], {
      when: ["float", (child) => child.kill("SIGINT")],
    });
    expect(stderr).toContain("Interrupted");
    expect(code).toBe(130);
  });
});
