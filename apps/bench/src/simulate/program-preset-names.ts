// Apart from what they run, which takes long to load.
export const programPresetNames = ["two-level", "tiles"] as const;
export type ProgramPresetName = (typeof programPresetNames)[number];
