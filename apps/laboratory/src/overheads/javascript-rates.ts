import { join } from "node:path";
import { BenchError, type RateRow, runProgram } from "dfccl/internal/measurement";

/** Runs the benchmark of `@dfccl/core`: submissions and completions through the whole engine, from JavaScript. */
export async function measureJavaScriptRates(root: string, signal?: AbortSignal): Promise<RateRow[]> {
  const folder = join(root, "packages", "core");
  const args = ["--import", "tsx", join("bench", "run.ts"), "--json"];
  const output = await runProgram({ command: process.execPath, args, cwd: folder, signal });
  const { rows } = JSON.parse(output) as { rows?: readonly RateRow[] };
  if (!Array.isArray(rows) || rows.length === 0) {
    throw new BenchError("PROGRAM_FAILED", "The benchmark of @dfccl/core measured nothing.", "See what it wrote.", { output });
  }
  return rows.map(({ what, median, best }) => ({ what, median, best }));
}
