import os from "node:os";
import { formatBytes, formatCountOf } from "../terminal/table.js";
import { commitOf } from "./commit.js";
import { jsonLines } from "./run-program.js";

export interface MachineFacts {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly kernel: string;
  readonly node: string;
  /** Processes that ran or wanted to, on average over the minute before: more than a few tenths, and others worked too. */
  readonly loadBefore: number;
}

/** What has to stand beside a figure, so that a reader can judge it. */
export interface ReportHeader extends PeerFacts {
  /** What to type to get the same again. */
  readonly command: string;
  /** ISO 8601. */
  readonly date: string;
  /** Of this repository, "+" where files had changed since; undefined where nobody knows. */
  readonly commit: string | undefined;
  readonly machine: MachineFacts;
  /** What the cores and the memory could do in this very moment; virtual machines change. */
  readonly probe: Readonly<Record<string, number>>;
}

/** Versions of peers that were measured too, and what on. */
export interface PeerFacts {
  readonly openmpi?: string | undefined;
  readonly nccl?: string | undefined;
  /** How many of which, and their driver. */
  readonly gpus?: string | undefined;
}

/** To be asked before anything is measured, or the load would be our own. */
export function machineFacts(): MachineFacts {
  return {
    cpu: os.cpus()[0]?.model.trim() ?? "unknown",
    cores: os.availableParallelism(),
    memoryBytes: os.totalmem(),
    kernel: `${os.type()} ${os.release()}`,
    node: process.versions.node,
    loadBefore: os.loadavg()[0] ?? 0,
  };
}

/**
 * @param root - of the clone, if this is one.
 * @param output - of a native benchmark, in which it says what it found the machine to be capable of.
 */
export function reportHeader(root: string | undefined, machine: MachineFacts, output: string, peers: PeerFacts = {}): ReportHeader {
  const probe = Object.entries(jsonLines(output).find((line) => line.probe === true) ?? {});
  return {
    command: ["npx", "dfccl", ...process.argv.slice(2)].join(" "),
    date: new Date().toISOString(),
    commit: commitOf(root),
    machine,
    probe: Object.fromEntries(probe.filter((entry): entry is [string, number] => typeof entry[1] === "number")),
    ...peers,
  };
}

/** The header as lines for people. */
export function describeHeader({ commit, date, machine, probe, openmpi, nccl, gpus }: ReportHeader): string[] {
  const { cpu, cores, memoryBytes, kernel, node, loadBefore } = machine;
  const { coreRoundTripNs, copyGBs } = probe;
  return [
    `${cpu}, ${cores} cores, ${formatBytes(memoryBytes)}, ${kernel}, Node ${node}${openmpi ? `, OpenMPI ${openmpi}` : ""}`,
    ...(gpus ? [`${gpus}${nccl ? `, NCCL ${nccl}` : ""}`] : []),
    `commit ${commit ?? "unknown"}, ${date.slice(0, 16).replace("T", " ")} UTC, load before ${loadBefore.toFixed(1)}`,
    ...(coreRoundTripNs === undefined
      ? []
      : [`probe: ${coreRoundTripNs} ns from core to core and back, one core copies ${copyGBs ?? "–"} GB/s`]),
  ];
}

/** Figures of a busy machine compare how two programs bear with others, not how fast they are. */
export function busyWarning({ cores, loadBefore }: MachineFacts): string | undefined {
  if (loadBefore < cores / 2) return undefined;
  return `The machine is busy (load ${loadBefore.toFixed(1)} on ${formatCountOf(cores, "core")}): these figures say little. Measure again when it is quiet.`;
}
