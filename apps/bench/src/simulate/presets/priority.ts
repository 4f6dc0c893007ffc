import { simulatePriority } from "@dfccl/simulator";
import { bars } from "../../charts/chart.js";
import { formatCount } from "../../terminal/table.js";
import { nanoseconds, type PresetReport } from "../preset-report.js";

/** What priorities gain between backward and forward pass. */
export function reportPriority(): PresetReport {
  const rows = simulatePriority();
  return {
    title: "Priorities",
    lead: "Backward pass, all-reduces, next forward pass: what is needed first overtakes (DFCCL, section 4.3).",
    rows,
    tables: [
      {
        header: ["order", "iteration", "not overlapped", "context switches"],
        rows: rows.map((row) => [row.policy, nanoseconds(row.iterationNs), nanoseconds(row.exposedNs), formatCount(row.preemptions)]),
      },
    ],
    charts: [
      bars({
        name: "priority",
        title: "Communication that isn't overlapped with computing",
        categories: rows.map(({ policy }) => policy),
        valueName: "ms",
        series: [{ name: "not overlapped", values: rows.map(({ exposedNs }) => exposedNs / 1e6) }],
      }),
    ],
  };
}
