import { calibrate, type MeasuredCase, type Prediction, SimulationConfigError } from "@dfccl/simulator";
import { type Chart, line, palette, plot, points } from "../../charts/chart.js";
import { formatBytes } from "../../terminal/table.js";
import { nanoseconds, type PresetReport } from "../preset-report.js";

/** Measured all-reduces, half of them fitted, half predicted. @param measured - the rows that `npm run bench:mpi -- --json FILE` writes. */
export function reportCalibration(measured: unknown): PresetReport {
  const { predictions, medianError } = calibrate(measuredCases(measured));
  return {
    title: "Predicted against measured",
    lead: "Links fitted to every second size, the other sizes predicted by simulation.",
    rows: predictions,
    tables: [
      {
        header: ["", "size", "measured", "predicted", "error"],
        rows: predictions.map(({ ranks, bytes, microseconds, predictedMicroseconds, error }) => [
          `${ranks} ranks`,
          formatBytes(bytes),
          nanoseconds(1000 * microseconds),
          nanoseconds(1000 * predictedMicroseconds),
          `${error > 0 ? "+" : ""}${(100 * error).toFixed(0)}%`,
        ]),
      },
    ],
    note: `median error ${(100 * medianError).toFixed(0)}%`,
    charts: [calibrationChart(predictions)],
  };
}

export function calibrationChart(predictions: readonly Prediction[]): Chart {
  const series = [...new Set(predictions.map(({ ranks }) => ranks))].flatMap((ranks, i) => {
    const own = predictions.filter((prediction) => prediction.ranks === ranks);
    return [
      line(
        `${ranks} ranks, predicted`,
        own.map(({ bytes, predictedMicroseconds }): [number, number] => [bytes, predictedMicroseconds]),
        palette[i % palette.length],
      ),
      points(
        `${ranks} ranks, measured`,
        own.map(({ bytes, microseconds }): [number, number] => [bytes, microseconds]),
        palette[i % palette.length],
      ),
    ];
  });
  return plot({
    name: "calibration",
    title: "All-reduce, predicted and measured",
    x: { name: "bytes", type: "log" },
    y: { name: "µs", type: "log" },
    series,
  });
}

function measuredCases(report: unknown): readonly MeasuredCase[] {
  const { rows } = (report ?? {}) as { rows?: unknown };
  if (!Array.isArray(rows))
    throw new SimulationConfigError("of measurements", [
      { key: "rows", value: rows, problem: "must be what npm run bench:mpi -- --json FILE wrote" },
    ]);
  const cases = rows.map((row) => row as { ranks?: unknown; bytes?: unknown; oursUs?: unknown } | null);
  return cases.map((row, i) => {
    const [ranks, bytes, microseconds] = [row?.ranks, row?.bytes, row?.oursUs];
    if (typeof ranks === "number" && typeof bytes === "number" && typeof microseconds === "number") return { ranks, bytes, microseconds };
    throw new SimulationConfigError("of measurements", [{ key: `rows[${i}]`, value: row, problem: "must have ranks, bytes and oursUs" }]);
  });
}
