// Packs what a bare GPU host needs into one folder: nothing is installed there, and nothing fetched.
//   node scripts/pack-gpu.mjs [FOLDER, default build/gpu-package]    (npm run pack:gpu)
// The addon and the shared library with both engines, the command line in one file, native tests and measurements, the
// programs' run script, the backend of torch.distributed with its checks, and Node, compressed. On the host: FOLDER/run.sh
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { giveUp, line, step } from "./lib/console.mjs";
import { installCommand, onPath } from "./lib/machine.mjs";
import { root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

const mostBytes = 48 * 2 ** 20;
const buildMinutes = 40;
const folder = process.argv[2] ?? join(root, "build", "gpu-package");
const native = join(root, "build", "gpu");
const architectures = process.env.DFCCL_CUDA_ARCHITECTURES;

async function must(name, command, options = {}) {
  const { code, output, seconds } = await run(command, { log: "pack-gpu", ...options });
  if (code !== 0) giveUp(`${name} failed:\n${output.split("\n").slice(-25).join("\n")}`);
  step(name, "done", seconds);
}

if (!onPath("nvcc")) {
  giveUp("nvcc is missing, which compiles for GPUs: install the CUDA toolkit 13, and put its bin/ into PATH. No GPU is needed here.");
}
const missing = (await setup({ for: "pack" })).filter((need) => !need.optional);
if (missing.length > 0) {
  const names = missing.map(({ name }) => name).join(" and ");
  giveUp(`${names} missing. Type this, then run the same command again:\n\n    ${installCommand(missing)}\n`);
}

await must("configure", [
  "cmake",
  "-S",
  join(root, "native"),
  "-B",
  native,
  ...(existsSync(join(native, "CMakeCache.txt")) ? [] : ["-G", "Ninja"]),
  "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
  "-DDFCCL_CUDA=ON",
  ...(architectures ? [`-DDFCCL_CUDA_ARCHITECTURES=${architectures}`] : []),
]);
const programs = [
  "dfccl_gpu",
  "dfccl_gpu_test",
  "stream_programs",
  "perf_gpu",
  "perf_bench",
  "nccl_gpu_test",
  "nccl_gpu_processes_test",
  "nccl_call_overhead",
];
const targets = ["dfccl_cuda_product", "dfccl_nccl", ...programs];
await must("native", ["cmake", "--build", native, "--target", ...targets, "-j", "2"], { timeoutMs: buildMinutes * 60_000 });
await must("packages", ["npx", "turbo", "run", "build", "--filter=dfccl"]);

rmSync(folder, { recursive: true, force: true });
for (const name of ["bin", "nccl"]) mkdirSync(join(folder, name), { recursive: true });
for (const [from, to] of [
  ["with-gpu/dfccl.node", "dfccl.node"],
  ["with-gpu/libdfccl.so.0", "bin/libdfccl.so.0"],
  // Apart from the programs, which measure NCCL itself by that name.
  ["with-gpu/libnccl.so.2", "nccl/libnccl.so.2"],
  ["with-gpu/libdfccl_nccl_audit.so", "nccl/libdfccl_nccl_audit.so"],
  ...programs.map((name) => [`bench/${name}`, `bin/${name}`]),
]) {
  await must(to, ["strip", "--strip-unneeded", "-o", join(folder, to), join(native, from)]);
}

// Imported late: the set-up installs it. It takes what is installed here into the file, and leaves out only what Node itself has.
const { build } = await import("tsup");
await build({
  config: false,
  silent: true,
  entry: {
    dfccl: join(root, "apps/bench/src/cli.ts"),
    "launch-watcher": join(root, "apps/bench/src/launch-watcher.ts"),
    "gpu-check": join(root, "packages/core/test/gpu/gpu-check.ts"),
  },
  outDir: join(folder, "dist"),
  format: ["esm"],
  outExtension: () => ({ js: ".mjs" }),
  platform: "node",
  target: "node20",
  splitting: false,
  minify: true,
  noExternal: [/.*/],
  external: ["@dfccl/train", "tsx", "playwright-core"],
  // Some dependencies are CommonJS, and ask for Node's modules as such.
  banner: { js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);' },
});
// The command line asks for its own version by this file.
const { version } = JSON.parse(readFileSync(join(root, "apps/bench/package.json"), "utf8"));
const manifest = { name: "dfccl", version, private: true, type: "module", exports: { "./package.json": "./package.json" } };
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest)}\n`);
const { output: commit } = await run(["git", "describe", "--always", "--dirty=+"], { log: "pack-gpu" });
writeFileSync(join(folder, "commit"), commit);
// The binaries have the same kernels in them: together they take little more than one.
const binaries = ["dfccl.node", "bin", "nccl"];
await must("binaries", ["sh", "-c", `tar -C '${folder}' -cf - ${binaries.join(" ")} | xz -9 -c > '${join(folder, "binaries.tar.xz")}'`]);
for (const name of binaries) rmSync(join(folder, name), { recursive: true });
cpSync(join(root, "cuda", "run.sh"), join(folder, "measure.sh"));
cpSync(join(root, "cuda", "run-programs.sh"), join(folder, "measure-programs.sh"));
cpSync(join(root, "cuda", "run-streams.sh"), join(folder, "measure-streams.sh"));
cpSync(join(root, "cuda", "nccl_api", "gpu.sh"), join(folder, "measure-nccl.sh"));
cpSync(join(root, "cuda", "run-packed.sh"), join(folder, "run.sh"));
const sources = (path) => !path.includes("__pycache__");
// The backend of torch.distributed goes as it lies here: it is compiled on the host, which has torch, against these headers.
for (const [from, to] of [
  ["cuda/training", "training"],
  ["cuda/nccl_api/torch", "nccl-torch"],
  ["cuda/test/callers", "nccl-callers"],
  ["python/dfccl-nccl/src", "python/dfccl-nccl/src"],
  ["python/dfccl-torch", "python/dfccl-torch"],
  ["native/include", "native/include"],
]) {
  cpSync(join(root, from), join(folder, to), { recursive: true, filter: sources });
}
cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
// Compressed once for each version: that takes a minute.
const node = join(root, "build", `node-${process.version}.xz`);
if (!existsSync(node)) {
  await must("node", ["sh", "-c", `xz -T0 -6 -c '${process.execPath}' > '${node}.part' && mv '${node}.part' '${node}'`]);
}
cpSync(node, join(folder, "node.xz"));

const bytes = sizeOf(folder);
step("size", `${(bytes / 2 ** 20).toFixed(1)} MiB in ${folder}`);
if (bytes > mostBytes) giveUp(`The folder has ${bytes} bytes, more than the ${mostBytes} that a host takes.`);
line(`\nCopy the folder to a GPU host and type: ${join("gpu-package", "run.sh")}`);

function sizeOf(path) {
  if (!statSync(path).isDirectory()) return statSync(path).size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
