import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { describeTransport } from "../../src/index.js";

const patienceMs = 50_000;

/** One rank of a job: a fixture in a process of its own. */
export interface RankProcess {
  readonly child: ChildProcess;
  /** The lines that it has told, parsed, once it has ended or told so many. */
  told(lines: number): Promise<unknown[]>;
  ended(): Promise<{ readonly code: number | null; readonly signal: string | null; readonly stderr: string }>;
}

/** Environments as launchers leave them: `[rank]`. */
export type Launcher = (ranks: number) => NodeJS.ProcessEnv[];

export const launchers = {
  dfccl: (ranks) => {
    const job = randomUUID();
    return each(ranks, (rank) => ({ DFCCL_RANK: `${rank}`, DFCCL_WORLD_SIZE: `${ranks}`, DFCCL_JOB: job }));
  },
  torchrun: (ranks) => {
    const run = randomUUID();
    return each(ranks, (rank) => ({
      RANK: `${rank}`,
      WORLD_SIZE: `${ranks}`,
      LOCAL_WORLD_SIZE: `${ranks}`,
      MASTER_ADDR: "localhost",
      MASTER_PORT: "29500",
      TORCHELASTIC_RUN_ID: run,
    }));
  },
  srun: (ranks) => {
    const job = randomUUID();
    return each(ranks, (rank) => ({ SLURM_PROCID: `${rank}`, SLURM_STEP_NUM_TASKS: `${ranks}`, SLURM_JOB_ID: job, SLURM_STEP_ID: "0" }));
  },
} satisfies Record<string, Launcher>;

/** As on machines with so many ranks each, which meet on loopback. */
export const apart = (ranks: number, ranksEach = 2): NodeJS.ProcessEnv[] => {
  const job = randomUUID();
  const address = `127.0.0.1:${20_000 + Math.floor(Math.random() * 10_000)}`;
  return each(ranks, (rank) => ({
    DFCCL_RANK: `${rank}`,
    DFCCL_WORLD_SIZE: `${ranks}`,
    DFCCL_JOB: job,
    DFCCL_ADDRESS: address,
    DFCCL_HOST: `machine ${Math.floor(rank / ranksEach)}`,
    UCX_TLS: "tcp",
  }));
};

/** Whether this machine has what carries data between machines. */
export function hasUcx(): boolean {
  try {
    return describeTransport() !== "";
  } catch {
    return false;
  }
}

const each = (ranks: number, make: (rank: number) => NodeJS.ProcessEnv): NodeJS.ProcessEnv[] =>
  Array.from({ length: ranks }, (_, rank) => make(rank));

/** Starts a fixture once a rank. */
export function start(fixture: string, environments: readonly NodeJS.ProcessEnv[]): RankProcess[] {
  return environments.map((env) => startOne(fixture, env));
}

function startOne(fixture: string, env: NodeJS.ProcessEnv): RankProcess {
  const file = fileURLToPath(new URL(`./fixtures/${fixture}.ts`, import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", file], { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
  const [lines, watchers]: [unknown[], Set<() => void>] = [[], new Set()];
  let [rest, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) lines.push(JSON.parse(part));
    for (const watcher of watchers) watcher();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  // One that hangs is killed before the test gives up, so that none is left behind.
  const timer = setTimeout(() => child.kill("SIGKILL"), patienceMs);
  const ended = new Promise<{ code: number | null; signal: string | null; stderr: string }>((resolve) => {
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stderr });
      for (const watcher of watchers) watcher();
    });
  });
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  return {
    child,
    ended: () => ended,
    told: async (count) => {
      while (lines.length < count && !isOver) {
        await new Promise<void>((resolve) => {
          watchers.add(resolve);
          void ended.then(() => resolve());
        });
      }
      return lines;
    },
  };
}
