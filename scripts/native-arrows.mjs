// Which folder of the C++ and CUDA half may include which. A folder may include those above it in this table that it
// names, so arrows run one way; scripts/checks/native-includes.mjs enforces it, and docs/architecture/native.md prints it
// and draws it (`node scripts/native-arrows.mjs`). Tests and benchmarks may include everything.
import { pathToFileURL } from "node:url";

const base = "native/src/base";
const daemon = "native/src/daemon";

/** Folder → what it is, and the folders that it may include. From the ground up. */
export const nativeArrows = {
  "native/include/dfccl": { what: "the C API: what is installed", may: [] },
  [`${base}/detail`]: { what: "atomics of each compiler", may: [] },
  [base]: { what: "atomics, data types, layouts and failures, which all else stands on", may: ["native/include/dfccl", `${base}/detail`] },
  "native/src/numeric": { what: "half, bfloat16 and float8", may: [base] },
  "native/src/queues": { what: "every queue variant, header only", may: [base] },
  "native/src/scheduling": { what: "order, stickiness and quit policies as the daemon runs them", may: [base] },
  [`${daemon}/state`]: {
    what: "what the daemon keeps while it is away: records, connectors, windows, contexts, feeds",
    may: [base, "native/src/queues", "native/src/scheduling"],
  },
  [`${daemon}/lifecycle`]: { what: "how a run begins, meets its peers' buffers, and ends", may: [`${daemon}/state`] },
  [`${daemon}/framing`]: {
    what: "the table of protocols, and a file for each whose slots are lines with flags",
    may: [base, `${daemon}/state`],
  },
  [`${daemon}/movers`]: {
    what: "what moves a run's data, a slice at a time: the interpreter, exchanges, direct and prepared moves",
    may: [base, `${daemon}/state`, `${daemon}/framing`, `${daemon}/lifecycle`],
  },
  [`${daemon}/tasks`]: {
    what: "a block's tasks: runs taken in, tried at once, queued, given their turns, alone or several in a round",
    may: [base, `${daemon}/state`, `${daemon}/lifecycle`, `${daemon}/movers`],
  },
  [`${daemon}/loop`]: { what: "who steps what, and when the daemon leaves: block, leader, rank", may: [base, `${daemon}/tasks`] },
  [daemon]: {
    what: "what a platform must offer the daemon, one source for all of them; its rules",
    may: [`${daemon}/state`, `${daemon}/framing`, `${daemon}/movers`, `${daemon}/tasks`],
  },
  "native/src/os": { what: "how threads sleep, pause and read the clock, and what closes a descriptor", may: [base] },
  "native/src/reduce_copy": { what: "SIMD kernels that reduce and copy", may: [base, "native/src/numeric"] },
  "native/src/trace": { what: "the moments of a run, as files", may: [`${daemon}/state`] },
  "native/src/program": {
    what: "loads programs, and checks them byte by byte",
    may: [base, `${daemon}/state`, `${daemon}/framing`, `${daemon}/movers`],
  },
  "native/src/world": {
    what: "what every world has, whatever carries it out: options, collectives, built-in programs, queues, the interface of a backend",
    may: [
      "native/include/dfccl",
      base,
      `${daemon}/state`,
      `${daemon}/framing`,
      `${daemon}/loop`,
      "native/src/os",
      "native/src/trace",
      "native/src/program",
    ],
  },
  "native/src/matching": {
    what: "runs that are matched by their signature, groups of ranks, requests",
    may: ["native/include/dfccl", base, "native/src/world"],
  },
  "native/src/processes": {
    what: "ranks that are processes of one machine: shared memory, rendezvous, who is gone",
    may: ["native/include/dfccl", base, `${daemon}/state`, `${daemon}/framing`, "native/src/os", "native/src/program", "native/src/world"],
  },
  "native/src/network": {
    what: "ranks on several machines",
    may: [base, "native/src/os", `${daemon}/state`, `${daemon}/framing`, "native/src/world", "native/src/processes"],
  },
  "native/src/cpu": {
    what: "the CPU's backend: CpuWorld, CpuRank, workers, CpuPlatform",
    may: [
      base,
      `${daemon}/state`,
      `${daemon}/framing`,
      `${daemon}/movers`,
      `${daemon}/loop`,
      daemon,
      "native/src/os",
      "native/src/reduce_copy",
      "native/src/program",
      "native/src/world",
      "native/src/processes",
      "native/src/network",
    ],
  },
  "native/src/without_gpu": { what: "what stands in for the GPU's backend in builds without CUDA", may: ["native/src/world"] },
  "native/src/opening": {
    what: "how a world comes to be: launchers' variables, joining, which backend",
    may: ["native/include/dfccl", base, "native/src/world", "native/src/processes", "native/src/network", "native/src/cpu"],
  },
  "native/src/c_api": {
    what: "the C API",
    may: [
      "native/include/dfccl",
      base,
      "native/src/os",
      "native/src/trace",
      "native/src/world",
      "native/src/matching",
      "native/src/processes",
      "native/src/network",
      "native/src/opening",
    ],
  },
  "native/addon": {
    what: "the Node binding, one file an object",
    may: [
      "native/include/dfccl",
      base,
      "native/src/scheduling",
      `${daemon}/state`,
      `${daemon}/framing`,
      "native/src/os",
      "native/src/world",
      "native/src/matching",
      "native/src/processes",
      "native/src/network",
      "native/src/opening",
    ],
  },
  "cuda/device/block": {
    what: "a block of a GPU's kernel: its threads, what they share, fences",
    may: [base, `${daemon}/state`, `${daemon}/framing`, `${daemon}/tasks`, `${daemon}/loop`],
  },
  "cuda/device/captured": {
    what: "a run that is a kernel of its own: what host and kernel give each other, and what its members tell each other",
    may: [base, `${daemon}/state`],
  },
  "cuda/device": {
    what: "what a block of a GPU's kernel does: CudaPlatform, its workers, its polling warp",
    may: [
      base,
      "native/src/numeric",
      "native/src/queues",
      `${daemon}/state`,
      `${daemon}/framing`,
      `${daemon}/tasks`,
      `${daemon}/loop`,
      daemon,
      "cuda/device/block",
    ],
  },
  "cuda/device/captured/kernel": { what: "that kernel", may: ["cuda/device", "cuda/device/captured"] },
  "cuda/device/reduce_copy": { what: "the workers' kernels by data type and operator", may: ["cuda/device"] },
  "cuda/at_load": { what: "when the library is loaded, CUDA is asked for as many hardware queues as there can be", may: [] },
  "cuda/host/driver": {
    what: "what is asked of CUDA's driver: memory, what streams capture, handles for other processes; and threads that ask it",
    may: [base, `${daemon}/state`, "native/src/os", "native/src/world", "native/src/processes"],
  },
  "cuda/host/member": {
    what: "a rank's part of a registration: tables in its GPU's memory, who has joined, what graphs have captured",
    may: [
      `${daemon}/state`,
      "native/src/os",
      `${daemon}/framing`,
      "native/src/world",
      "native/src/processes",
      "cuda/device",
      "cuda/device/captured",
      "cuda/host/driver",
    ],
  },
  "cuda/host/rank": {
    what: "GpuRank: the launch of its daemon, its streams and their waits, who tells of completions",
    may: [base, `${daemon}/state`, "native/src/os", "native/src/world", "cuda/device", "cuda/host/driver", "cuda/host/member"],
  },
  "cuda/host/world": {
    what: "the GPU's backend: GpuWorld, and JoinedGpuWorld where ranks are processes",
    may: [
      `${daemon}/state`,
      "native/src/os",
      "native/src/world",
      "native/src/processes",
      "native/src/network",
      "cuda/device",
      "cuda/host/driver",
      "cuda/host/member",
      "cuda/host/rank",
    ],
  },
  "cuda/nccl_api/universe": {
    what: "libnccl.so.2: what communicators stand on: worlds of the C API, how their ranks meet, failures, a real NCCL",
    may: ["native/include/dfccl", base, "native/src/numeric", "native/src/os", "cuda/host/driver"],
  },
  "cuda/nccl_api/machines": {
    what: "libnccl.so.2: how ranks of other machines come to a meeting",
    may: [base, "native/src/os", "native/src/network", "cuda/nccl_api/universe"],
  },
  "cuda/nccl_api/calls": {
    what: "NCCL's functions by what they are for: communicators, collectives, groups of calls",
    may: ["native/include/dfccl", base, "native/src/world", "cuda/host/driver", "cuda/nccl_api/universe", "cuda/nccl_api/machines"],
  },
  "cuda/nccl_api/audit": { what: "for LD_AUDIT: who looks for NCCL gets that library", may: [] },
  "cuda/nccl": { what: "NCCL, loaded at run time, to be measured beside", may: [base, "cuda/host/driver"] },
};

/** The table as Markdown. */
export function printedNativeArrows() {
  const rows = Object.entries(nativeArrows).map(
    ([folder, { what, may }]) => `| \`${folder}\` | ${what} | ${may.map((target) => `\`${target}\``).join(" ") || "nothing"} |`,
  );
  return ["| Folder | What it is | May include |", "| --- | --- | --- |", ...rows].join("\n");
}

/** The table drawn, for Mermaid: of what a folder may include, only what no other folder that it may include leads to. */
export function drawnNativeArrows() {
  const leads = (from, to) => nativeArrows[from].may.some((next) => next === to || leads(next, to));
  const short = (folder) => folder.replace(/^native\/(?:src\/)?/, "");
  const number = new Map(Object.keys(nativeArrows).map((folder, i) => [folder, `f${i}`]));
  const nodes = [...number].map(([folder, id]) => `  ${id}["${short(folder)}"]`);
  const arrows = Object.entries(nativeArrows).flatMap(([folder, { may }]) =>
    may.filter((target) => !may.some((other) => leads(other, target))).map((target) => `  ${number.get(folder)} --> ${number.get(target)}`),
  );
  return ["```mermaid", "flowchart TD", ...nodes, ...arrows, "```"].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) console.log(`${printedNativeArrows()}\n\n${drawnNativeArrows()}`);
