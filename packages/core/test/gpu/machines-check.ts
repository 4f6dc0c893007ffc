// Ranks on GPUs of two make-believe machines, from JavaScript: starts itself once for each rank. Ends with 1 where a sum is wrong.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type DeviceBuffer, joinWorld } from "../../src/index.js";
import { apart, hasUcx } from "../processes/processes.js";

const RANKS = 2;

if (process.env.DFCCL_RANK !== undefined) {
  await addUp();
} else if (!hasUcx()) {
  process.stdout.write("skipped: there is no UCX\n");
} else {
  const ranks = apart(RANKS, 1).map((environment) =>
    spawn(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url)], {
      env: { ...process.env, ...environment },
      stdio: "inherit",
    }),
  );
  const ends = await Promise.all(ranks.map(async (rank) => (await once(rank, "exit"))[0] as number | null));
  process.exitCode = ends.every((end) => end === 0) ? 0 : 1;
}

/** As one rank: sums, of which the first are slept for, and the last are all under way at once. */
async function addUp(): Promise<void> {
  const rank = await joinWorld({ backend: "cuda" });
  const sum = rank.register({ id: 1, collective: "all-reduce", dataType: "float32", count: 5000 });
  const buffers: DeviceBuffer<"float32">[] = Array.from({ length: 20 }, () => rank.allocate("float32", 5000));
  for (const [i, buffer] of buffers.entries()) await buffer.copyFrom(new Float32Array(5000).fill(rank.number + i));
  for (const buffer of buffers.slice(0, 10)) await sum.run(buffer, buffer);
  await Promise.all(buffers.slice(10).map((buffer) => sum.run(buffer, buffer)));
  for (const [i, buffer] of buffers.entries()) {
    const found = await buffer.read();
    const right = 2 * i + 1;
    if (found.some((value) => value !== right)) {
      process.stdout.write(`WRONG: rank ${rank.number}, sum ${i}: ${found[0]} in place of ${right}\n`);
      process.exitCode = 1;
    }
  }
  await rank.close();
}
