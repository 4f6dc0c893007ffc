// The C API: scripts/fuzz/c-api.c, compiled against the library of the clone. A case is a process.
import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory, root } from "../../lib/paths.mjs";
import { faultOfEnd } from "../judge.mjs";
import { end, inFolder } from "../processes.mjs";

const build = join(root, "build", "release");
const program = join(cacheDirectory, "fuzz", "c-api");
mkdirSync(join(cacheDirectory, "fuzz"), { recursive: true });
const include = `-I${join(root, "native", "include")}`;
const source = join(root, "scripts", "fuzz", "c-api.c");
// Others compile it at the same time, or run it.
const made = `${program}-${process.pid}`;
execFileSync("cc", ["-O1", "-g", "-std=c11", "-D_GNU_SOURCE", include, source, "-o", made, `-L${build}`, "-ldfccl", `-Wl,-rpath,${build}`]);
renameSync(made, program);

export async function tryCase(random) {
  const seed = String(random.bits());
  const ended = await inFolder((cwd, env) => end([program, seed], { cwd, env, interruptAfterMs: 150_000 }));
  const fault = faultOfEnd(ended);
  return fault && `.cache/fuzz/c-api ${seed}\n${fault}\n${ended.stderr}`;
}
