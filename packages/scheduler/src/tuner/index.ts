export { applyCandidate, type Candidate, candidateOf, type Parameter, type Ranges } from "./candidate.js";
export { type CurveTextOptions, drawCurve } from "./curve-text.js";
export { type CurveFit, type CurvePoint, fitCurve, predict } from "./fit-curve.js";
export type { Measure, RecordedSample, TimeSample } from "./rounds.js";
export { type LoadedTuning, loadTuning, type MachineFingerprint, type StoredTuning, saveTuning, TuningFileError } from "./store.js";
export { type MeasuredPoint, type TuneOptions, type TuneResult, tune } from "./tune.js";
export { writeWhole } from "./write-whole.js";
