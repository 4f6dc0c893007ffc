import { execFile, execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { commandPath, type Finished, runCommand } from "./run-command.js";

const limit = 90_000;
const disorder = ["disorder", "--scale", "0.01", "-i", "3", "--sync", "0.05", "--seed", "3", "--json"];
const exact = { workload: "resnet50 × 0.01", expected: 1932, completed: 1932, wrong: 0, partial: false, control: null };

function commandExists(name: string): boolean {
  try {
    execFileSync(name, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("dfccl disorder with one rank a process", () => {
  it("is right to the bit, as dfccl launch starts it; rank 0 alone speaks", { timeout: limit }, async () => {
    const { code, stdout } = await runCommand(["launch", "-n", "4", "dfccl", ...disorder]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ ...exact, ranks: 4, launcher: "dfccl launch" });
    expect(code).toBe(0);
  });

  it("is right to the bit with torchrun's variables", { timeout: limit }, async () => {
    const job = {
      WORLD_SIZE: "4",
      LOCAL_WORLD_SIZE: "4",
      MASTER_ADDR: "127.0.0.1",
      MASTER_PORT: "29555",
      TORCHELASTIC_RUN_ID: randomUUID(),
    };
    const ends = await Promise.all(
      Array.from({ length: 4 }, (_, rank) => runCommand(disorder, { env: { ...job, RANK: `${rank}`, LOCAL_RANK: `${rank}` } })),
    );
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(JSON.parse(ends[0]?.stdout ?? "")).toMatchObject({ ...exact, ranks: 4, launcher: "torchrun" });
    expect(ends.slice(1).map(({ stdout }) => stdout)).toEqual(["", "", ""]);
  });

  it.runIf(commandExists("mpirun"))("is right to the bit under mpirun", { timeout: limit }, async () => {
    const { code, stdout } = await mpirun(["-n", "4", process.execPath, commandPath, ...disorder]);
    expect(JSON.parse(stdout)).toMatchObject({ ...exact, ranks: 4, launcher: "mpirun" });
    expect(code).toBe(0);
  });

  it("has no control, and says so", { timeout: limit }, async () => {
    const { code, stderr } = await runCommand(["launch", "-n", "2", "dfccl", ...disorder, "--control"]);
    expect(stderr).toContain("control");
    expect(code).toBe(1);
  });
});

describe("dfccl launch", () => {
  const node = (script: string): string[] => [process.execPath, "-e", script];

  it("tells each process its rank, and passes arguments on as they are", { timeout: limit }, async () => {
    const script = "const e = process.env; console.log(e.DFCCL_RANK, e.DFCCL_WORLD_SIZE, e.DFCCL_JOB, process.argv.slice(1).join(' '))";
    const { code, stdout } = await runCommand(["launch", "-n", "3", "--job", "mine", ...node(script), "--", "-n", "7"]);
    expect(stdout.trimEnd().split("\n").sort()).toEqual(["0 3 mine -n 7", "1 3 mine -n 7", "2 3 mine -n 7"]);
    expect(code).toBe(0);
  });

  it("is what dfccl run does with -n, whose arguments the program gets as they are", { timeout: limit }, async () => {
    const script = "const e = process.env; console.log(e.DFCCL_RANK, e.DFCCL_WORLD_SIZE, e.DFCCL_JOB, process.argv.slice(1).join(' '))";
    for (const options of [
      ["-n", "2", "--job", "mine"],
      ["--job=mine", "--keep-going", "-n2"],
    ]) {
      const { code, stdout } = await runCommand(["run", ...options, ...node(script), "--", "--iterations", "7", "-n", "3"]);
      expect(stdout.trimEnd().split("\n").sort()).toEqual(["0 2 mine --iterations 7 -n 3", "1 2 mine --iterations 7 -n 3"]);
      expect(code).toBe(0);
    }
    const eight = await runCommand(["run", "-n", "8", "dfccl", ...disorder]);
    expect(JSON.parse(eight.stdout)).toMatchObject({ ...exact, expected: 3864, completed: 3864, ranks: 8, launcher: "dfccl launch" });
    expect(eight.code).toBe(0);
  });

  it("names the rank that failed, and ends those that would wait for it", { timeout: limit }, async () => {
    const script = "process.env.DFCCL_RANK === '1' ? process.exit(3) : setInterval(() => {}, 1000)";
    const { code, stderr } = await runCommand(["launch", "-n", "3", ...node(script)]);
    expect(stderr).toMatch(/^.*Rank 1 \(process \d+\) ended with 3\./);
    expect(code).toBe(1);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("hands a %s on, and ends with %d", { timeout: limit }, async (signal, expected) => {
    const script = "console.log('there', process.pid); setInterval(() => {}, 1000)";
    const { code, stdout, stderr } = await runCommand(["launch", "-n", "2", ...node(script)], {
      when: [/there \d+\n(.|\n)*there \d+\n/, (child) => child.kill(signal)],
    });
    expect({ code, stderr }).toEqual({ code: expected, stderr: "" });
    for (const [, pid] of stdout.matchAll(/there (\d+)/g)) expect(() => process.kill(Number(pid), 0)).toThrow("ESRCH");
  });

  it("begins each line with its rank when asked to, a last one without an end, too", { timeout: limit }, async () => {
    const script = "const r = process.env.DFCCL_RANK; console.log('one'); console.error('wrong'); process.stdout.write('ü' + r)";
    const { code, stdout, stderr } = await runCommand(["launch", "-n", "2", "--prefix", ...node(script)]);
    expect(stdout.split("\n").sort()).toEqual(["", "[0] one", "[0] ü0", "[1] one", "[1] ü1"]);
    expect(stderr.split("\n").sort()).toEqual(["", "[0] wrong", "[1] wrong"]);
    expect(code).toBe(0);
  });

  it("starts all ranks again after one has failed, as often as it may", { timeout: limit }, async () => {
    const script =
      "const { DFCCL_RANK: rank, DFCCL_RESTART: restart } = process.env; console.log(rank, restart); process.exit(rank === '1' && restart < 2 ? 3 : 0)";
    const { code, stdout, stderr } = await runCommand(["launch", "-n", "2", "--restarts", "2", ...node(script)]);
    expect(stdout.trimEnd().split("\n").sort()).toEqual(["0 0", "0 1", "0 2", "1 0", "1 1", "1 2"]);
    expect(stderr.match(/restart \d of 2/g)).toEqual(["restart 1 of 2", "restart 2 of 2"]);
    expect(code).toBe(0);
    const failed = await runCommand(["launch", "-n", "2", "--restarts", "1", ...node(script)]);
    expect(failed.stderr.match(/Rank 1 .* ended with 3/g)).toHaveLength(2);
    expect(failed.code).toBe(1);
  });

  it("starts nothing again that can't be started", { timeout: limit }, async () => {
    const { code, stderr } = await runCommand(["launch", "-n", "1", "--restarts", "5", "no-such-program-anywhere"]);
    expect(stderr).not.toContain("restart");
    expect(code).toBe(1);
  });

  it("says what could not be started", { timeout: limit }, async () => {
    const { code, stderr } = await runCommand(["launch", "-n", "1", "no-such-program-anywhere"]);
    expect(stderr).toContain("Rank 0 could not be started");
    expect(code).toBe(1);
    const tooLong = await runCommand(["launch", "-n", "2", "x".repeat(5000)]);
    expect(tooLong.stderr).toContain("Rank 0 could not be started: spawn ENAMETOOLONG");
    expect(tooLong.stderr).toContain("Look at the program's path");
    expect(tooLong.code).toBe(1);
  });
});

function mpirun(args: readonly string[]): Promise<Finished> {
  // As root, as in a container, OpenMPI wants to be asked twice.
  const env = { ...process.env, OMPI_ALLOW_RUN_AS_ROOT: "1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: "1" };
  return new Promise((resolve) => {
    execFile("mpirun", ["--oversubscribe", "--bind-to", "none", ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : error ? 1 : 0, signal: null, stdout, stderr });
    });
  });
}
