import type { PresetReport } from "./preset-report.js";
import { reportCalibration } from "./presets/calibration.js";
import { reportLateRank } from "./presets/late-rank.js";
import { reportOrderings } from "./presets/orderings.js";
import { reportPriority } from "./presets/priority.js";
import { reportScale, type ScaleReportOptions } from "./presets/scale.js";
import { reportValley } from "./presets/valley.js";
import type { SchedulePresetName } from "./schedule-preset-names.js";

export interface PresetOptions extends ScaleReportOptions {
  readonly readMeasured: () => unknown;
}

const presets: Readonly<Record<SchedulePresetName, (options: PresetOptions) => PresetReport | Promise<PresetReport>>> = {
  "late-rank": reportLateRank,
  valley: reportValley,
  priority: reportPriority,
  orderings: ({ seed }) => reportOrderings(seed),
  scale: reportScale,
  calibrate: ({ readMeasured }) => reportCalibration(readMeasured()),
};

export async function runPreset(name: SchedulePresetName, options: PresetOptions): Promise<PresetReport> {
  return await presets[name](options);
}
