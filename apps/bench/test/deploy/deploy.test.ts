import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { commandPath, runCommand } from "../command/run-command.js";

const deploy = fileURLToPath(new URL("../../../../deploy/", import.meta.url));
const read = (file: string): string => readFileSync(join(deploy, file), "utf8");
const folder = mkdtempSync(join(tmpdir(), "dfccl-deploy-"));
afterAll(() => rmSync(folder, { recursive: true }));
const small = ["--scale", "0.01", "-i", "2", "--json"];

describe("deploy/dfccl.sbatch", () => {
  it("starts the ranks of one job, which meet and are right to the bit", { timeout: 60_000 }, async () => {
    // What srun does for a step, as far as a task can see it.
    const srun = join(folder, "srun");
    writeFileSync(
      srun,
      `#!/bin/sh
while [ "\${1#--}" != "$1" ]; do shift; done
for rank in 0 1 2; do
  SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=3 SLURM_STEP_TASKS_PER_NODE=3 SLURM_PROCID=$rank "$@" &
done
wait
`,
    );
    chmodSync(srun, 0o755);
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, SLURM_JOB_ID: `${process.pid}`, SLURM_PROCID: "0" };
    const stdout = await new Promise<string>((resolve, reject) => {
      execFile("sh", [join(deploy, "dfccl.sbatch"), process.execPath, commandPath, "disorder", ...small], { env }, (error, out) =>
        error ? reject(error) : resolve(out),
      );
    });
    expect(JSON.parse(stdout)).toMatchObject({ launcher: "srun", ranks: 3, completed: 966, expected: 966, wrong: 0 });
  });

  it("asks for one node, and tells ranks on several where they meet and what they prove", async () => {
    expect(read("dfccl.sbatch")).toMatch(/^#SBATCH --nodes=1$/m);
    const bin = mkdtempSync(join(folder, "bin-"));
    writeFileSync(join(bin, "srun"), '#!/bin/sh\necho "$MASTER_ADDR $MASTER_PORT $DFCCL_JOB_SECRET"\n');
    writeFileSync(join(bin, "scontrol"), "#!/bin/sh\nprintf 'node-3\\nnode-4\\n'\n");
    for (const program of ["srun", "scontrol"]) chmodSync(join(bin, program), 0o755);
    const tell = (nodes: string): Promise<string> => {
      const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, SLURM_JOB_NUM_NODES: nodes, SLURM_JOB_NODELIST: "node-[3-4]" };
      return new Promise((resolve, reject) => {
        execFile("sh", [join(deploy, "dfccl.sbatch"), "true"], { env }, (error, out) => (error ? reject(error) : resolve(out.trim())));
      });
    };
    expect(await tell("1")).toBe("");
    const [first, second] = [await tell("2"), await tell("2")];
    expect(first).toMatch(/^node-3 29500 [0-9a-f]{64}$/);
    expect(second).not.toBe(first);
  });
});

describe("deploy/job.yaml", () => {
  const job = parse(read("job.yaml"));
  const [container] = job.spec.template.spec.containers;

  it("is a Job of one pod that a failure starts again", () => {
    expect(job).toMatchObject({ apiVersion: "batch/v1", kind: "Job", spec: { template: { spec: { restartPolicy: "Never" } } } });
    expect(job.spec).not.toHaveProperty("parallelism");
    expect(job.spec.template.spec.containers).toHaveLength(1);
  });

  it("runs a command that works", { timeout: 60_000 }, async () => {
    const [npx, dfccl, ...args] = container.command as string[];
    expect([npx, dfccl]).toEqual(["npx", "dfccl"]);
    const shorter = args.slice(0, args.indexOf("--iterations"));
    const env = Object.fromEntries(container.env.map(({ name, value }: { name: string; value: string }) => [name, value]));
    const { code, stdout } = await runCommand([...shorter, ...small], { env });
    expect(JSON.parse(stdout)).toMatchObject({ launcher: "dfccl launch", ranks: 8, wrong: 0, partial: false });
    expect(code).toBe(0);
  });
});

describe("deploy/job-machines.yaml", () => {
  const [service, job] = parseAllDocuments(read("job-machines.yaml")).map((document) => document.toJS());
  const [container] = job.spec.template.spec.containers;
  const value = (name: string): string => container.env.find((one: { name: string }) => one.name === name)?.value ?? "";

  it("is an indexed Job, whose ranks meet at its first pod by the name that the service gives it", () => {
    const pods = Number(value("WORLD_SIZE")) / Number(value("LOCAL_WORLD_SIZE"));
    expect(job.spec).toMatchObject({ completionMode: "Indexed", completions: pods, parallelism: pods });
    expect(service.spec).toMatchObject({ clusterIP: "None", publishNotReadyAddresses: true });
    expect(service.spec.selector).toEqual({ "job-name": job.metadata.name });
    expect(job.spec.template.spec.subdomain).toBe(service.metadata.name);
    expect(value("MASTER_ADDR")).toBe(`${job.metadata.name}-0.${service.metadata.name}`);
  });

  it("takes the job's secret from a Secret, and names no other", () => {
    const secret = container.env.find(({ name }: { name: string }) => name === "DFCCL_JOB_SECRET");
    expect(secret).toEqual({ name: "DFCCL_JOB_SECRET", valueFrom: { secretKeyRef: { name: "dfccl", key: "secret" } } });
  });

  it("starts ranks that know who they are, and fails with any of them", async () => {
    const bin = mkdtempSync(join(folder, "npx-"));
    writeFileSync(join(bin, "npx"), '#!/bin/sh\necho "$RANK"\n[ "$RANK" != "$FAILS" ]\n');
    chmodSync(join(bin, "npx"), 0o755);
    const start = (fails: string): Promise<{ failed: boolean; ranks: string[] }> =>
      new Promise((resolve) => {
        const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, JOB_COMPLETION_INDEX: "1", FAILS: fails };
        execFile("sh", ["-c", container.args[0]], { env }, (error, out) =>
          resolve({ failed: error !== null, ranks: out.trim().split("\n").sort() }),
        );
      });
    expect(await start("none")).toEqual({ failed: false, ranks: ["4", "5", "6", "7"] });
    expect(await start("6")).toMatchObject({ failed: true });
  });
});

describe("deploy/Containerfile", () => {
  const lines = read("Containerfile").split("\n");

  it("builds on a C library that the prebuilt engine loads with, and doesn't run as root", () => {
    expect(lines.find((line) => line.startsWith("FROM "))).toMatch(/^FROM node:\d+-bookworm-slim$/);
    expect(lines).toContain("USER node");
  });

  it("starts the ranks with a command that exists", () => {
    const command = JSON.parse(lines.find((line) => line.startsWith("CMD "))?.slice("CMD ".length) ?? "[]");
    expect(command.slice(0, 5)).toEqual(["npx", "dfccl", "launch", "-n", "8"]);
  });
});
