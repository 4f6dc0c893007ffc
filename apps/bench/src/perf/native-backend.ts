import { hostname } from "node:os";
import {
  type BackendName,
  exitCodes,
  type MeasuredRow,
  type Measurement,
  type OpenBackend,
  type PerfDevice,
  PerfError,
  type Turns,
} from "@dfccl/collective-tests";
import { machineFacts } from "../peers/report-header.js";
import { writeCases } from "./cases-file.js";
import { type InputFiles, inheritedFiles, namedFiles } from "./input-files.js";
import { nativeArguments } from "./native-arguments.js";
import { type NativeFailure, readNativeLine } from "./native-rows.js";
import { type Ended, startProgram, streamProgram } from "./stream-program.js";

/** How to start the native loop on some library. */
export interface NativeCommand {
  readonly name: BackendName;
  readonly version: string;
  /** A rank each. */
  readonly devices: readonly PerfDevice[];
  /** Memory that one rank may take. */
  readonly memoryBytes: number;
  readonly command: string;
  readonly args: readonly string[];
  /** More arguments, with the files that they name. */
  readonly prepare?: (measurement: Measurement, files: InputFiles) => readonly string[];
  /** Whether the command starts what reads the files, and so can't hand on what it inherits. */
  readonly startsOthers?: boolean;
  /** Figures of the machine, where they have been asked for. */
  readonly probe?: Readonly<Record<string, unknown>>;
  /** Whether it is started once and stays while other backends measure. */
  readonly stays?: boolean;
}

/** A backend whose timed loop is a native program of its own. */
export function openNative(native: NativeCommand): OpenBackend {
  return {
    version: native.version,
    devices: native.devices,
    memoryBytes: native.memoryBytes,
    machine: { ...machineFacts(), ...native.probe },
    measure: (measurement, onRow) => measure(native, measurement, onRow),
    ...(native.stays ? { startTurns: (measurement: Measurement) => startTurns(native, measurement) } : {}),
  };
}

/** What the native loop reads, and the command line that names it. */
function prepare(native: NativeCommand, measurement: Measurement): { readonly files: InputFiles; readonly args: string[] } {
  const { run, cases, warmUps, cycles, buffersFor } = measurement;
  const files = native.startsOthers ? namedFiles() : inheritedFiles();
  const path = files.add("cases", (to) => writeCases(to, warmUps, cases, buffersFor));
  const prepared = native.prepare ? native.prepare(measurement, files) : [];
  return { files, args: [...native.args, ...nativeArguments(run, cycles), "--cases", path, ...prepared] };
}

async function measure(native: NativeCommand, measurement: Measurement, onRow: (row: MeasuredRow) => void): Promise<void> {
  const { cases, warmUps, signal } = measurement;
  const { files, args } = prepare(native, measurement);
  using _ = files;
  let failure: NativeFailure | undefined;
  const onLine = (text: string): void => {
    const line = readNativeLine(text, native.name, warmUps.length, cases);
    if (line.kind === "row") onRow(line.row);
    if (line.kind === "failure") failure ??= line.failure;
  };
  const ended = await streamProgram({ command: native.command, args, descriptors: files.descriptors }, onLine, signal);
  if (failure !== undefined || ended.code !== 0) throw whyItEnded(native.name, ended, failure);
}

function startTurns(native: NativeCommand, measurement: Measurement): Turns {
  const { cases, warmUps, signal } = measurement;
  signal?.throwIfAborted();
  const { files, args } = prepare(native, measurement);
  let failure: NativeFailure | undefined;
  let onRow: ((row: MeasuredRow) => void) | undefined;
  const onLine = (text: string): void => {
    const line = readNativeLine(text, native.name, warmUps.length, cases);
    if (line.kind === "row") onRow?.(line.row);
    if (line.kind === "failure") failure ??= line.failure;
  };
  const program = startProgram(
    { command: native.command, args: [...args, "--turns", "1"], descriptors: files.descriptors },
    onLine,
    signal,
  );
  const ended = program.ended.finally(() => files[Symbol.dispose]());
  // Looked at when the next row is wanted.
  ended.catch(() => {});
  const failed = async (): Promise<never> => {
    throw whyItEnded(native.name, await ended, failure);
  };
  for (const row of warmUps.keys()) program.ask(`${row} 0`);
  return {
    async measure(row, cycle) {
      const measured = new Promise<MeasuredRow>((resolve) => {
        onRow = resolve;
      });
      program.ask(`${warmUps.length + row} ${cycle}`);
      const got = await Promise.race([measured, failed()]);
      if (got.case !== cases[row]) {
        throw new PerfError("BACKEND_FAILED", `${native.name} measured something else than it was asked for.`, "Report this.");
      }
      return got;
    },
    async end() {
      program.endInput();
      const how = await ended;
      if (failure !== undefined || how.code !== 0) throw whyItEnded(native.name, how, failure);
    },
    stop: () => program.stop(),
  };
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

/** Ranks on this machine's CPU, whose memory they share. */
export function cpuRanks(ranks: number): Pick<NativeCommand, "devices" | "memoryBytes"> {
  const { cpu, memoryBytes } = machineFacts();
  return {
    devices: ranksOn(Array.from({ length: ranks }, (_, device) => ({ device, bus: "0000:00:00", name: cpu }))),
    memoryBytes: memoryBytes / ranks,
  };
}

/** A rank for each, in their order. */
export function ranksOn(devices: readonly Pick<PerfDevice, "device" | "bus" | "name">[]): PerfDevice[] {
  const host = hostname();
  return devices.map((device, rank) => ({ ...device, rank, group: 0, pid: process.pid, hostname: host }));
}
