import { infiniband, islands } from "@dfccl/simulator";
import { type Chart, line, plot } from "../../charts/chart.js";
import { formatBytes } from "../../terminal/table.js";
import { nanoseconds, type PresetReport } from "../preset-report.js";
import { bestTime, type Contest, contests, type SimulatedTime, type TwoLevels } from "../two-level-contenders.js";

/** Two machines of eight GPUs with a network card each: GC3's A100 nodes with this project's link figures. */
export const levels: TwoLevels = {
  nodes: 2,
  cluster: { gpusPerNode: 8, cardsPerNode: 8, island: islands.nvlink, network: infiniband },
};

const sizes = [4, 32, 256, 2048, 16_384, 65_536].map((kib) => kib * 1024);
const settings = { instances: [1, 2, 4, 8], tileBytes: [8, 32, 128, 512].map((kib) => kib * 1024) };

interface Row {
  readonly contest: string;
  readonly contender: string;
  readonly bytes: number;
  readonly best: SimulatedTime;
}

/** Programs that know the two levels against those that don't (GC3, Fig. 7c, 7e and 7g). */
export async function reportTwoLevel({ onStep }: { readonly onStep?: (share: number, what: string) => void }): Promise<PresetReport> {
  const rows: Row[] = [];
  const total = contests.reduce((sum, { contenders }) => sum + contenders.length, 0) * sizes.length;
  for (const contest of contests) {
    for (const contender of contest.contenders) {
      const compiled = new Map(settings.instances.map((instances) => [instances, contender.kernels(levels, instances)]));
      for (const bytes of sizes) {
        const best = bestTime((instances) => compiled.get(instances) ?? [], levels, bytes, settings);
        rows.push({ contest: contest.name, contender: contender.name, bytes, best });
        onStep?.(rows.length / total, `${contest.name}, ${contender.name}`);
        // So that a bar can be drawn, and Ctrl-C be heard.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }
  const of = (contest: string, contender: string, bytes: number): Row | undefined =>
    rows.find((row) => row.contest === contest && row.contender === contender && row.bytes === bytes);
  return {
    title: "Two levels of links",
    lead:
      "Two machines of eight GPUs, each with a network card: links of 350 GB/s and 0.7 µs within, 25 GB/s and 5 µs between. " +
      "Every contender in its best of four numbers of instances and four tile sizes.",
    rows: rows.map(({ best, ...row }) => ({ ...row, ...best })),
    tables: contests.map(({ name, contenders: [first, ...others] }) => ({
      title: name,
      header: ["bytes a rank", first.name, ...others.flatMap((other) => [other.name, "slower"])],
      rows: sizes.map((bytes) => {
        const own = of(name, first.name, bytes)?.best.ns ?? 0;
        const cells = others.map((other) => of(name, other.name, bytes)?.best.ns ?? 0);
        return [formatBytes(bytes), nanoseconds(own), ...cells.flatMap((ns) => [nanoseconds(ns), `${(ns / own).toFixed(2)}×`])];
      }),
    })),
    charts: contests.map((contest) => speedupChart(contest, (contender, bytes) => of(contest.name, contender, bytes)?.best.ns ?? 0)),
  };
}

function speedupChart({ name, contenders: [first, ...others] }: Contest, time: (contender: string, bytes: number) => number): Chart {
  return plot({
    name: `two-level-${name}`,
    title: `${name}: how many times faster ${first.name} is`,
    x: { name: "KiB a rank", type: "log", logBase: 4, min: 4 },
    y: { name: "times faster", type: "log", logBase: 2 },
    series: others.map((other) =>
      line(
        `than ${other.name}`,
        sizes.map((bytes): [number, number] => [bytes / 1024, time(other.name, bytes) / time(first.name, bytes)]),
      ),
    ),
  });
}
