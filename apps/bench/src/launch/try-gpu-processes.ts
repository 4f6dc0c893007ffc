import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";

const limitMs = 60_000;
// Large enough that ranks read and write one another's buffers, which is what needs CUDA IPC.
const job = ["disorder", "--backend", "cuda", "--scale", "0.2", "--iterations", "2", "--seed", "1", "--json"];

/**
 * Runs a small job with a process for each of two ranks on GPUs.
 * @returns what went wrong; undefined where nothing did.
 */
export async function tryGpuProcesses(): Promise<string | undefined> {
  const name = randomUUID();
  const ends = await Promise.all([0, 1].map((rank) => runRank(rank, name)));
  return ends.find((end) => end !== undefined);
}

function runRank(rank: number, name: string): Promise<string | undefined> {
  const env = { ...process.env, DFCCL_RANK: `${rank}`, DFCCL_WORLD_SIZE: "2", DFCCL_JOB: name, DFCCL_SILENCE: "10" };
  const child = spawn(process.execPath, [process.argv[1] ?? "dfccl", ...job], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
    timeout: limitMs,
  });
  let said = "";
  child.stderr.on("data", (text: Buffer) => {
    said += text.toString();
  });
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(`rank ${rank}: ${error.message}`));
    child.on("close", (code, signal) => {
      const how = signal === null ? `ended with ${code}` : `was ended by ${signal}`;
      resolve(code === 0 ? undefined : `rank ${rank} ${how}: ${said.trim().split("\n")[0] ?? ""}`);
    });
  });
}
