import { simulateValley, type ValleyPoint } from "@dfccl/simulator";
import { type Chart, line, plot } from "../../charts/chart.js";
import { formatCount } from "../../terminal/table.js";
import { nanoseconds, type PresetReport } from "../preset-report.js";

const thresholds = [1, 4, 16, 64, 128, 256, 512, 1024, 4096, 16_384];
const switchesNs = [500, 10_000, 30_000];

interface ValleyCurve {
  readonly switchNs: number;
  readonly points: readonly ValleyPoint[];
}

/** Time over the spin threshold, for three costs of a switch. */
export function reportValley(): PresetReport {
  const curves = switchesNs.map((switchNs): ValleyCurve => ({ switchNs, points: simulateValley(thresholds, switchNs) }));
  return {
    title: "Time over the spin threshold",
    lead: "40 all-reduces of 8 MB in nearly equal orders on 8 ranks, under one fixed threshold after the other (DFCCL, expression 2).",
    rows: curves.flatMap(({ switchNs, points }) => points.map((point) => ({ switchNs, ...point }))),
    tables: [
      {
        header: ["threshold", ...switchesNs.map((switchNs) => `switch ${nanoseconds(switchNs)}`)],
        rows: thresholds.map((threshold, i) => [formatCount(threshold), ...curves.map(({ points }) => nanoseconds(points[i]?.endNs ?? 0))]),
      },
    ],
    charts: [valleyChart(curves)],
  };
}

export function valleyChart(curves: readonly ValleyCurve[]): Chart {
  return plot({
    name: "valley",
    title: "Time over the spin threshold",
    x: { name: "spin threshold, polls", type: "log", logBase: 4 },
    y: { name: "ms", type: "log" },
    series: curves.map(({ switchNs, points }) =>
      line(
        `a switch takes ${nanoseconds(switchNs)}`,
        points.map(({ threshold, endNs }): [number, number] => [threshold, endNs / 1e6]),
      ),
    ),
  });
}
