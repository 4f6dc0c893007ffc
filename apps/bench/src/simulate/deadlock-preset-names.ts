// Apart from what they run, which takes long to load.
export const deadlockPresetNames = ["table1", "figures"] as const;
export type DeadlockPresetName = (typeof deadlockPresetNames)[number];
