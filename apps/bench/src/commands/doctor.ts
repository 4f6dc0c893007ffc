import { existsSync } from "node:fs";
import os from "node:os";
import { AddonNotLoadedError, describeTransport, type GpuDevice, type GpuLink, type GpuReport, openWorld, reportGpus } from "@dfccl/core";
import type { DfcclError } from "@dfccl/primitives";
import type { Command } from "commander";
import type { Finding, State } from "../doctor/finding.js";
import { watchNcclCallers } from "../doctor/nccl-callers.js";
import { streamFacts, streamFindings } from "../doctor/streams.js";
import { tryGpuProcesses } from "../launch/try-gpu-processes.js";
import { out } from "../terminal/colors.js";
import { exitCodesText } from "../terminal/exit-codes.js";
import { withTerminalNote } from "../terminal/note.js";
import { say } from "../terminal/say.js";
import { formatBytes } from "../terminal/table.js";
import { programAndArguments } from "./options.js";

export function addDoctorCommand(program: Command): void {
  program
    .command("doctor")
    .summary("what this machine has, what would be used, what is missing and how to get it")
    .description(
      "Says what this machine has, what dfccl would use of it, what is missing and how to get it. With a program, starts that, and says " +
        "which libnccl it and all that it starts load, and what they call there.",
    )
    .argument("[program...]", "a program and its arguments, as they are", programAndArguments)
    .passThroughOptions()
    .option("--json", "print one JSON object instead of text")
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl doctor            a table with a line for each thing
  $ dfccl doctor --json     the same for a script
  $ dfccl doctor -- python train.py     which libnccl its processes load

${exitCodesText({
  0: "collectives run here; with a program, its own code",
  1: "something required is missing; its line says how to get it; or a process calls two libnccl",
  2: "usage",
})}`,
    )
    .action(async ([name, ...args]: string[], flags: { json?: boolean }) => {
      if (name !== undefined) {
        const { code, findings } = await watchNcclCallers(name, args);
        say(flags.json ? JSON.stringify({ code, findings }) : findings.map(describe).join("\n"));
        process.exitCode = code === 0 && findings.some(({ state }) => state === "failed") ? 1 : code;
        return;
      }
      const findings = await withTerminalNote("Trying what is here", async () => [
        machine(),
        node(),
        await engine(),
        network(),
        ...(await gpus()),
        ...tools(),
      ]);
      const works = findings.every(({ required, state }) => !required || state === "ok");
      if (flags.json) say(JSON.stringify({ works, findings }));
      else say(`${findings.map(describe).join("\n")}\n\n${summary(works)}`);
      process.exitCode = works ? 0 : 1;
    });
}

function machine(): Finding {
  const [cpu] = os.cpus();
  const detail = `${cpu?.model.trim() ?? "unknown CPU"}, ${os.availableParallelism()} cores, ${formatBytes(os.totalmem())}, ${os.type()} ${os.release()}`;
  return { what: "machine", state: "ok", detail };
}

function node(): Finding {
  const major = Number(process.versions.node.split(".")[0]);
  return major >= 20
    ? { what: "Node.js", state: "ok", detail: process.versions.node, required: true }
    : { what: "Node.js", state: "failed", detail: process.versions.node, remedy: "install Node.js 20 or later", required: true };
}

/** Loads the engine and runs one all-reduce through it: the proof that it works here. */
async function engine(): Promise<Finding> {
  const what = "engine (CPU)";
  try {
    using world = openWorld({ ranks: 2 });
    const sums = await Promise.all(
      world.ranks.map(async (rank) => {
        const sum = rank.register({ id: 0, collective: "all-reduce", dataType: "float32", count: 4 });
        const x = rank.allocate("float32", 4).fill(rank.number + 1);
        await sum.run(x, x);
        return x[3];
      }),
    );
    const right = sums.every((value) => value === 3);
    return {
      what,
      state: right ? "ok" : "failed",
      detail: `an all-reduce on 2 ranks is ${right ? "right" : "WRONG"}`,
      required: true,
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const remedy = error instanceof AddonNotLoadedError ? error.remedy : "see the message";
    return { what, state: "failed", detail: message, remedy, required: true };
  }
}

/** What worlds on several machines need. */
function network(): Finding {
  const what = "network";
  try {
    return { what, state: "ok", detail: `${describeTransport()}, between machines; what GPUs send goes through the host` };
  } catch (error) {
    const { message, remedy } = error as DfcclError;
    return { what, state: "missing", detail: message.replace(remedy, "").trim(), remedy };
  }
}

const cudaText = (version: number): string => `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`;

/** Devices, what links them, and what is chosen because of it. */
async function gpus(): Promise<Finding[]> {
  let report: GpuReport;
  try {
    report = reportGpus();
  } catch {
    return []; // The engine's line has said it.
  }
  const { devices, links, obstacle } = report;
  const versions = [
    report.driverVersion > 0 ? `driver ${report.driverModule} speaks CUDA ${cudaText(report.driverVersion)}` : "no driver",
    report.runtimeVersion > 0 ? `engine built with ${cudaText(report.runtimeVersion)}` : "this addon has no GPU engine",
  ].join(", ");
  if (obstacle !== undefined) {
    const { message, remedy } = obstacle as DfcclError;
    const detail = `${message.replace(remedy, "").trim().replace(/\.$/, "")} (${versions}); the CPU is used for backend "auto"`;
    return [{ what: "engine (GPU)", state: "missing", detail, remedy }];
  }
  return [
    ...devices.map((device) => ({ what: `GPU ${device.number}`, state: "ok" as const, detail: describeDevice(device) })),
    ...(devices.length > 1 ? [{ what: "GPU links", state: linksState(links), detail: describeLinks(devices, links) }] : []),
    { what: "host atomics", state: "ok", detail: describeAtomics(devices) },
    await gpuEngine(versions),
    await gpuProcesses(),
    ...streamFindings(streamFacts()),
  ];
}

function describeDevice({ name, computeCapability, multiprocessors, memoryBytes, pciAddress }: GpuDevice): string {
  return `${name}, compute capability ${computeCapability}, ${multiprocessors} multiprocessors, ${formatBytes(memoryBytes)}, PCI ${pciAddress}`;
}

function linksState(links: readonly GpuLink[]): State {
  return links.every(({ canAccess }) => canAccess) ? "ok" : "failed";
}

/** A matrix, a row for each device: NV18 is 18 NVLinks, PCIe peer access without them, "–" none. */
function describeLinks(devices: readonly GpuDevice[], links: readonly GpuLink[]): string {
  const nameOf = ({ canAccess, nvlinks, nativeAtomics }: GpuLink): string =>
    canAccess ? `${nvlinks > 0 ? `NV${nvlinks}` : nvlinks === 0 ? "PCIe" : "P2P"}${nativeAtomics ? "+" : ""}` : "–";
  const cells = devices.map((from) =>
    devices.map((to) => {
      const link = links.find((one) => one.from === from.number && one.to === to.number);
      return (link ? nameOf(link) : "·").padStart(6);
    }),
  );
  const rows = devices.map(({ number }, i) => `${String(number).padStart(4)} ${cells[i]?.join("") ?? ""}`);
  const head = `     ${devices.map(({ number }) => String(number).padStart(6)).join("")}`;
  return `who reaches whose memory ("+": with atomics), and over what\n${[head, ...rows].map((row) => `${" ".repeat(20)}${row}`).join("\n")}`;
}

function describeAtomics(devices: readonly GpuDevice[]): string {
  return devices.every(({ hostNativeAtomics }) => hostNativeAtomics)
    ? "native on host memory: any completion queue works"
    : "not native on host memory: completions go to slots of their own, one store each, which need none";
}

async function gpuEngine(versions: string): Promise<Finding> {
  const what = "engine (GPU)";
  try {
    using world = openWorld({ ranks: Math.max(2, reportGpus().devices.length), backend: "cuda" });
    const sums = await Promise.all(
      world.ranks.map(async (rank) => {
        const sum = rank.register({ id: 0, collective: "all-reduce", dataType: "float32", count: 4 });
        const x = rank.allocate("float32", 4);
        await x.copyFrom(new Float32Array(4).fill(rank.number + 1));
        await sum.run(x, x, { timeoutMs: 10_000 });
        return (await x.read())[3];
      }),
    );
    const n = world.ranks.length;
    const right = sums.every((value) => value === (n * (n + 1)) / 2);
    const detail = `${versions}; an all-reduce on ${n} ranks is ${right ? "right" : "WRONG"}; used for backend "auto"`;
    return { what, state: right ? "ok" : "failed", detail };
  } catch (error) {
    return { what, state: "failed", detail: error instanceof Error ? error.message : String(error) };
  }
}

/** Whether processes map one another's device memory here: containers may be in the way. */
async function gpuProcesses(): Promise<Finding> {
  const what = "GPU processes";
  const failure = await tryGpuProcesses();
  if (failure === undefined) return { what, state: "ok", detail: "one rank a process: two share device memory through CUDA IPC" };
  const remedy = "in containers, let the ranks share PID and IPC namespaces; else open all ranks in one process (openWorld)";
  return { what, state: "failed", detail: failure, remedy };
}

/** What building from source and comparing need; the published packages need none of it. */
function tools(): Finding[] {
  const wanted = [
    { command: "g++", what: "C++ compiler", purpose: "to build from source", pkg: "g++" },
    { command: "cmake", what: "CMake", purpose: "to build from source", pkg: "cmake" },
    { command: "mpirun", what: "OpenMPI", purpose: "to compare with (npm run bench:mpi)", pkg: "openmpi-bin libopenmpi-dev" },
    { command: "nvcc", what: "CUDA toolkit", purpose: "to build for GPUs", pkg: "nvidia-cuda-toolkit" },
  ];
  return wanted.map(({ command, what, purpose, pkg }): Finding => {
    const found = (process.env.PATH ?? "").split(":").find((folder) => existsSync(`${folder}/${command}`));
    return found
      ? { what, state: "ok", detail: `${found}/${command}` }
      : { what, state: "missing", detail: purpose, remedy: `apt-get install ${pkg}` };
  });
}

function describe({ what, state, detail, remedy }: Finding): string {
  const marks: Readonly<Record<State, string>> = { ok: out.green("✓"), missing: out.yellow("–"), failed: out.red("✗") };
  return `  ${marks[state]} ${what.padEnd(14)}  ${detail}${remedy ? `\n${" ".repeat(20)}→ ${remedy}` : ""}`;
}

function summary(works: boolean): string {
  return works ? out.green("Collectives run here.") : out.red("Something required is missing: see the lines marked ✗.");
}
