import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import {
  type BackendName,
  exitCodes,
  type MeasuredRow,
  type Measurement,
  type OpenBackend,
  type PerfDevice,
  PerfError,
} from "@dfccl/collective-tests";
import { machineFacts } from "../peers/report-header.js";
import { writeCases } from "./cases-file.js";
import { nativeArguments } from "./native-arguments.js";
import { type NativeFailure, readNativeLine } from "./native-rows.js";
import { type Ended, streamProgram } from "./stream-program.js";

/** How to start the native loop on some library. */
export interface NativeCommand {
  readonly name: BackendName;
  readonly version: string;
  readonly ranks: number;
  readonly command: string;
  readonly args: readonly string[];
  /** More arguments, for files of which are made in `folder`. */
  readonly prepare?: (measurement: Measurement, folder: string) => readonly string[];
  /** Figures of the machine, where they have been asked for. */
  readonly probe?: Readonly<Record<string, unknown>>;
}

/** A backend whose timed loop is a native program of its own. */
export function openNative(native: NativeCommand): OpenBackend {
  const machine = machineFacts();
  return {
    version: native.version,
    devices: devicesOf(native.ranks, machine.cpu),
    // All ranks of this machine share its memory.
    memoryBytes: machine.memoryBytes / native.ranks,
    machine: { ...machine, ...native.probe },
    measure: (measurement, onRow) => measure(native, measurement, onRow),
  };
}

async function measure(native: NativeCommand, measurement: Measurement, onRow: (row: MeasuredRow) => void): Promise<void> {
  const { run, cases, warmUps, cycles, signal } = measurement;
  const folder = mkdtempSync(join(tmpdir(), "dfccl-perf-"));
  let failure: NativeFailure | undefined;
  try {
    const file = join(folder, "cases");
    writeCases(file, warmUps, cases);
    const args = [
      ...native.args,
      ...nativeArguments(run, cycles),
      "--cases",
      file,
      ...(native.prepare ? native.prepare(measurement, folder) : []),
    ];
    const onLine = (text: string): void => {
      const line = readNativeLine(text, native.name, warmUps.length, cases);
      if (line.kind === "row") onRow(line.row);
      if (line.kind === "failure") failure ??= line.failure;
    };
    const ended = await streamProgram(native.command, args, onLine, signal);
    if (failure !== undefined || ended.code !== 0) throw whyItEnded(native.name, ended, failure);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function whyItEnded(backend: BackendName, { code, killedBy, stderr }: Ended, failure: NativeFailure | undefined): PerfError {
  if (failure !== undefined) {
    const problem = failure.exit === exitCodes.timeout ? "TIMED_OUT" : "BACKEND_FAILED";
    return new PerfError(problem, `${backend}: ${failure.error}`, "Nothing after it was measured.", { backend }, failure.exit);
  }
  const [, rank, how] = /process rank (\d+) .*?exited on signal (\d+ \([^)]*\))/s.exec(stderr) ?? [];
  if (rank !== undefined) {
    return new PerfError("RANK_DIED", `${backend}: rank ${rank} died, by signal ${how}.`, "See what it wrote.", { backend, stderr });
  }
  const end = stderr.trim().split("\n").slice(-8).join("\n");
  return new PerfError("BACKEND_FAILED", `${backend} ended with ${code ?? killedBy}.${end ? `\n${end}\n` : ""}`, "See what it wrote.", {
    backend,
    stderr,
  });
}

function devicesOf(ranks: number, cpu: string): PerfDevice[] {
  const host = hostname();
  return Array.from({ length: ranks }, (_, rank) => {
    return { rank, group: 0, pid: process.pid, hostname: host, device: rank, bus: "0000:00:00", name: cpu };
  });
}
