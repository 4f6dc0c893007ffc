// The CUDA code, compiled where there is nvcc: no GPU is needed for that.
// By hand: node scripts/checks/cuda.mjs [all]     all: as it ships, every architecture and program, which takes long
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { cmakeGenerator, onPath } from "../lib/machine.mjs";
import { root } from "../lib/paths.mjs";
import { run } from "../lib/run.mjs";

const skipped = { skipped: 1, details: "nvcc is missing: install the CUDA toolkit 13" };

async function configure(folder, ...flags) {
  const build = join(root, "build", folder);
  const parts = ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DDFCCL_CUDA=ON", "-DDFCCL_BUILD_ADDON=OFF", "-DDFCCL_BUILD_TESTS=OFF"];
  const command = ["cmake", "-S", join(root, "native"), "-B", build, ...cmakeGenerator(), ...parts, ...flags];
  return { build, ...(await run(command, { log: folder })) };
}

/**
 * Every file as far as its errors show: kernels to unoptimised PTX, which is a tenth of what machine code costs, C++
 * to its syntax tree. Nothing is linked.
 * @param options.inBackground - beside other tests: one at a time, which yields to whatever else wants to run.
 */
export async function cudaFiles({ inBackground = false } = {}) {
  if (!onPath("nvcc")) return skipped;
  const { build, code, output } = await configure("cuda-check", "-DDFCCL_CUDA_ARCHITECTURES=90-real", "-DDFCCL_UNITY=OFF");
  if (code !== 0) return { failed: 1, details: output };
  const entries = JSON.parse(readFileSync(join(build, "compile_commands.json"), "utf8"));
  // A file of several programs is looked at once.
  const files = new Map(entries.filter(({ file }) => file.startsWith(join(root, "cuda"))).map((entry) => [entry.file, entry]));
  const waiting = [...files.values()];
  const result = { passed: 0, failed: 0, details: "" };
  const work = async () => {
    for (let entry = waiting.pop(); entry; entry = waiting.pop()) {
      const polite = inBackground ? ["nice", "-n", "19"] : [];
      const { code: ended, output: said } = await run([...polite, ...lookCommand(entry, build)], {
        cwd: entry.directory,
        log: `cuda-${result.passed}`,
      });
      if (ended === 0) result.passed += 1;
      else {
        result.failed += 1;
        result.details += `${relative(root, entry.file)}:\n${said}\n`;
      }
    }
  };
  await Promise.all(inBackground ? [work()] : [work(), work()]);
  return result;
}

/** The command that CMake would run, cut short. */
function lookCommand({ command, file }, build) {
  const words = command.split(" ").filter((word) => word !== "");
  const kept = words.filter(
    (word, i) => word !== "-c" && word !== "-o" && words[i - 1] !== "-o" && !/^(-O3|-lineinfo|--generate-code.*)$/.test(word),
  );
  if (!file.endsWith(".cu")) return [...kept, "-fsyntax-only"];
  const ptx = join(build, `${relative(root, file).replaceAll("/", "-")}.ptx`);
  return [...kept, "-arch=compute_90", "-O0", "-Xcicc", "-O0", "-ptx", "-o", ptx];
}

/** Builds what ships, and asks the program what GPUs there are: it must answer without one, too. */
async function cudaPrograms() {
  if (!onPath("nvcc")) return skipped;
  const { build, code, output } = await configure("cuda-all");
  if (code !== 0) return { failed: 1, details: output };
  const targets = ["dfccl_cuda_product", "dfccl_gpu", "dfccl_gpu_test", "perf_gpu"];
  const built = await run(["cmake", "--build", build, "--target", ...targets, "-j", "2"], { log: "cuda-all-build", timeoutMs: 5_400_000 });
  if (built.code !== 0) return { failed: 1, details: built.output };
  let passed = 1;
  for (const backend of ["cuda", "nccl"]) {
    const probe = await run([join(build, "bench", "perf_gpu"), "--backend", backend, "--probe", "yes"], { timeoutMs: 60_000 });
    const isAnswer = probe.code === 0 && /^\{"(version|error)":/m.test(probe.output);
    if (!isAnswer) return { passed, failed: 1, details: `perf_gpu --backend ${backend} --probe yes: ${probe.code}\n${probe.output}` };
    passed += 1;
  }
  return { passed };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { details = "", ...counts } = await (process.argv[2] === "all" ? cudaPrograms() : cudaFiles());
  process.stdout.write(`${details}\n${JSON.stringify(counts)}\n`);
  process.exit(counts.failed ? 1 : 0);
}
