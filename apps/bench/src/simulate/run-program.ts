import { type Cluster, infiniband, islands, simulatePrograms } from "@dfccl/simulator";
import { line, plot } from "../charts/chart.js";
import { type LoadOptions, loadProgram } from "../programs/load-program.js";
import { watchForInterruption } from "../terminal/interruption.js";
import { withProgress } from "../terminal/progress.js";
import { say } from "../terminal/say.js";
import { formatBytes, formatCount } from "../terminal/table.js";
import { drawReport } from "./draw-report.js";
import { nanoseconds, type PresetReport, reportText } from "./preset-report.js";
import { reportTiles } from "./presets/tiles.js";
import { reportTwoLevel } from "./presets/two-level.js";
import type { ProgramPresetName } from "./program-preset-names.js";
import type { DrawingFlags } from "./write-report.js";

export interface SimulateProgramFlags extends DrawingFlags, LoadOptions {
  readonly preset?: ProgramPresetName;
  readonly gpus?: number;
  readonly cards?: number;
  readonly bytes: readonly number[];
  readonly tile?: number;
  readonly json?: boolean;
}

const progressSteps = 1000;

/** @returns the exit code. */
export async function simulateProgramPreset(preset: ProgramPresetName, flags: SimulateProgramFlags): Promise<number> {
  using interruption = watchForInterruption();
  const report = await withProgress("Programs", progressSteps, async (progress) =>
    preset === "tiles"
      ? reportTiles()
      : await reportTwoLevel({
          onStep: (share, what) => {
            interruption.signal.throwIfAborted();
            progress.update(Math.round(share * progressSteps), what);
          },
        }),
  ).catch((error: unknown) => {
    if (interruption.signal.aborted) return undefined;
    throw error;
  });
  if (report === undefined) {
    say("Interrupted: nothing was found out yet.");
    return interruption.exitCode() ?? 1;
  }
  const written = await drawReport(flags, report, `dfccl simulate program --preset ${preset}`);
  if (flags.json) say(JSON.stringify({ preset, rows: report.rows }));
  else say([reportText(report), ...written].join("\n"));
  return 0;
}

/** @returns the exit code. */
export async function simulateProgramFile(path: string, flags: SimulateProgramFlags): Promise<number> {
  const { name, program } = await loadProgram(path, flags);
  const ranks = program.ranks.map((_, rank) => rank);
  const { gpus = ranks.length, cards = gpus } = flags;
  const cluster: Cluster = { gpusPerNode: gpus, cardsPerNode: cards, island: islands.nvlink, network: infiniband };
  const rows = flags.bytes.map((bytes) => {
    const segments = Math.max(program.inputSegments, program.outputSegments, 1);
    const segmentBytes = Math.ceil(bytes / segments);
    const tile = flags.tile === undefined ? {} : { tileBytes: flags.tile };
    return { bytes, ...simulatePrograms([{ program, ranks, segmentBytes }], { cluster, ...tile }) };
  });
  const report: PresetReport = {
    title: name,
    lead: `${formatCount(ranks.length)} ranks, ${formatCount(gpus)} a machine, ${formatCount(cards)} network cards each.`,
    rows,
    tables: [
      {
        header: ["bytes a rank", "time", "GB/s", "steps", "over the network"],
        rows: rows.map(({ bytes, endNs, steps, networkBytes }) => [
          formatBytes(bytes),
          nanoseconds(endNs),
          (bytes / endNs).toPrecision(3),
          formatCount(steps),
          networkBytes === 0 ? "nothing" : formatBytes(networkBytes),
        ]),
      },
    ],
    charts: [
      plot({
        name: "program",
        title: `${name}: time over size`,
        x: { name: "KiB a rank", type: "log", logBase: 4 },
        y: { name: "µs", type: "log" },
        series: [
          line(
            name,
            rows.map(({ bytes, endNs }): [number, number] => [bytes / 1024, endNs / 1e3]),
          ),
        ],
      }),
    ],
  };
  const written = await drawReport(flags, report, `dfccl simulate program ${path}`);
  if (flags.json) say(JSON.stringify({ program: name, ranks: ranks.length, gpusPerNode: gpus, cardsPerNode: cards, rows }));
  else say([report.lead, reportText(report), ...written].join("\n"));
  return 0;
}
