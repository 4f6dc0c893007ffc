// Apart from what they run, which takes long to load.
export const schedulePresetNames = ["late-rank", "valley", "priority", "orderings", "scale", "calibrate"] as const;
export type SchedulePresetName = (typeof schedulePresetNames)[number];
