// Which folder of the C++ and CUDA half may include which. A folder may include those above it in this table that it
// names, so arrows run one way; scripts/checks/native-includes.mjs enforces it, and docs/architecture/native.md prints it
// (`node scripts/native-arrows.mjs`). Tests and benchmarks may include everything.
import { pathToFileURL } from "node:url";

const include = "native/include/dfccl";

/** Folder → what it is, and the folders that it may include. From the ground up. */
export const nativeArrows = {
  [`${include}/detail`]: { what: "atomics of each compiler", may: [] },
  [include]: { what: "the C API's headers; atomics, data types and layouts that all else stands on", may: [`${include}/detail`] },
  [`${include}/numeric`]: { what: "half, bfloat16 and float8", may: [include] },
  [`${include}/queues`]: { what: "every queue variant, header only", may: [include] },
  [`${include}/scheduling`]: { what: "order, stickiness and quit policies as the daemon runs them", may: [include] },
  "native/src": { what: "what a failure is", may: [include] },
  [`${include}/daemon`]: {
    what: "the daemon, one source, templated over a platform (platform.hpp)",
    may: [include, `${include}/queues`, `${include}/scheduling`],
  },
  "native/src/os": { what: "how threads sleep, pause, and read the clock", may: [include] },
  "native/src/reduce_copy": { what: "SIMD kernels that reduce and copy", may: [include, `${include}/numeric`] },
  "native/src/trace": { what: "the moments of a run, as files", may: [`${include}/daemon`] },
  "native/src/program": { what: "loads programs, and checks them byte by byte", may: ["native/src", `${include}/daemon`] },
  "native/src/world": {
    what: "what every world has, whatever carries it out: options, collectives, built-in programs, queues, the interface of a backend",
    may: ["native/src", "native/src/os", "native/src/trace", "native/src/program", include, `${include}/daemon`],
  },
  "native/src/matching": {
    what: "runs that are matched by their signature, groups of ranks, requests",
    may: ["native/src", "native/src/world", include],
  },
  "native/src/processes": {
    what: "ranks that are processes of one machine: shared memory, rendezvous, who is gone",
    may: ["native/src", "native/src/os", "native/src/program", "native/src/world", include, `${include}/daemon`],
  },
  "native/src/network": {
    what: "ranks on several machines",
    may: ["native/src", "native/src/world", "native/src/processes", include, `${include}/daemon`],
  },
  "native/src/cpu": {
    what: "the CPU's backend: CpuWorld, CpuRank, workers, CpuPlatform",
    may: [
      "native/src",
      "native/src/os",
      "native/src/reduce_copy",
      "native/src/program",
      "native/src/world",
      "native/src/processes",
      "native/src/network",
      include,
      `${include}/daemon`,
    ],
  },
  "native/src/without_gpu": { what: "what stands in for the GPU's backend in builds without CUDA", may: ["native/src/world"] },
  "native/src/opening": {
    what: "how a world comes to be: launchers' variables, joining, which backend",
    may: ["native/src", "native/src/world", "native/src/processes", "native/src/network", "native/src/cpu", include],
  },
  "native/src/c_api": {
    what: "the C API",
    may: [
      "native/src",
      "native/src/matching",
      "native/src/os",
      "native/src/trace",
      "native/src/world",
      "native/src/processes",
      "native/src/network",
      "native/src/opening",
      include,
    ],
  },
  "native/addon": {
    what: "the Node binding, one file an object",
    may: [
      "native/src",
      "native/src/matching",
      "native/src/os",
      "native/src/world",
      "native/src/processes",
      "native/src/network",
      "native/src/opening",
      include,
      `${include}/scheduling`,
      `${include}/daemon`,
    ],
  },
  "cuda/device": {
    what: "what a block of a GPU's kernel does: CudaPlatform, its workers, its polling warp",
    may: [include, `${include}/numeric`, `${include}/queues`, `${include}/daemon`],
  },
  "cuda/device/reduce_copy": { what: "the workers' kernels by data type and operator", may: ["cuda/device"] },
  "cuda/host": {
    what: "the GPU's backend: GpuWorld, GpuRank, launches, memory, streams",
    may: ["native/src", "native/src/os", "native/src/world", "native/src/processes", "cuda/device", include, `${include}/daemon`],
  },
  "cuda/nccl_api": {
    what: "libnccl.so.2: NCCL's functions, on the C API",
    may: ["native/src/os", "native/src/world", "cuda/host", include, `${include}/numeric`],
  },
  "cuda/nccl": { what: "NCCL, loaded at run time, to be measured beside", may: ["native/src", "cuda/host", include] },
};

/** The table as Markdown. */
export function printedNativeArrows() {
  const rows = Object.entries(nativeArrows).map(
    ([folder, { what, may }]) => `| \`${folder}\` | ${what} | ${may.map((target) => `\`${target}\``).join(" ") || "nothing"} |`,
  );
  return ["| Folder | What it is | May include |", "| --- | --- | --- |", ...rows].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) console.log(printedNativeArrows());
