import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import os from "node:os";
import { AddonNotLoadedError, openWorld } from "@dfccl/core";
import type { Command } from "commander";
import { out } from "../terminal/colors.js";
import { formatBytes } from "../terminal/table.js";

type State = "ok" | "missing" | "failed";

interface Finding {
  readonly what: string;
  readonly state: State;
  readonly detail: string;
  /** How to get it, where something is missing. */
  readonly remedy?: string;
  /** Nothing works without it. */
  readonly required?: boolean;
}

export function addDoctorCommand(program: Command): void {
  program
    .command("doctor")
    .summary("what this machine has, what would be used, what is missing and how to get it")
    .description("Says what this machine has, what dfccl would use of it, what is missing and how to get it.")
    .option("--json", "print one JSON object instead of text")
    .addHelpText(
      "after",
      `
Examples:
  $ dfccl doctor            a table with a line for each thing
  $ dfccl doctor --json     the same for a script

Exit codes:
  0  collectives run here
  1  something required is missing; its line says how to get it
  2  usage`,
    )
    .action(async (flags: { json?: boolean }) => {
      const findings = [machine(), node(), await engine(), gpu(), ...tools()];
      const works = findings.every(({ required, state }) => !required || state === "ok");
      if (flags.json) process.stdout.write(`${JSON.stringify({ works, findings })}\n`);
      else process.stdout.write(`${findings.map(describe).join("\n")}\n\n${summary(works)}\n`);
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
      detail: `an all-reduce on 2 ranks is ${right ? "right" : "WRONG"}; used for backend "auto"`,
      required: true,
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const remedy = error instanceof AddonNotLoadedError ? error.remedy : "see the message";
    return { what, state: "failed", detail: message, remedy, required: true };
  }
}

function gpu(): Finding {
  const { status, stdout } = spawnSync("nvidia-smi", ["--query-gpu=name", "--format=csv,noheader"], { encoding: "utf8" });
  if (status === 0 && stdout.trim() !== "") {
    const names = stdout.trim().split("\n");
    return { what: "GPU", state: "ok", detail: `${names.length} × ${names[0]}; this version uses the CPU only` };
  }
  return { what: "GPU", state: "missing", detail: "no NVIDIA driver answers; the CPU is used" };
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
