import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { testHostileValues } from "../../../scripts/lib/hostile-values.js";
import * as scheduler from "../src/index.js";
import { simulationPolicy, started, startedAt } from "../src/index.js";
import * as tuner from "../src/tuner/index.js";
import { candidateOf, fitCurve } from "../src/tuner/index.js";

const policy = simulationPolicy("adaptive");
const { order, stickiness, quit } = policy;
const state = started(policy, 3);
const points = [1, 2, 4, 8].map((value) => ({ value, ns: 10 + value, ratio: 1, spread: 0 }));
const candidate = candidateOf(policy);
const missing = join(tmpdir(), "dfccl-no-such-folder", "tuning.json");
const result = {
  best: candidate,
  gain: 1,
  curve: points,
  fit: fitCurve(points),
  otherCurves: { raiseFactor: [], idleVisits: [] },
  samples: [],
};

testHostileValues(scheduler, {
  checkPolicy: () => [policy],
  policyByName: () => ["fixed", policy, { stickiness: { initialThreshold: 32 }, order: {}, quit: {} }],
  simulationPolicy: () => ["adaptive", { stickiness: { initialThreshold: 32 }, order: {}, quit: {} }],
  encodePolicy: () => [policy],
  decodePolicy: () => [scheduler.encodePolicy(policy)],
  DaemonModel: () => [policy, { next: () => undefined, poll: () => "stuck" }],
  started: () => [policy, 3, 0],
  isAllStuck: () => [state],
  isTriedAll: () => [state],
  wantsFetch: () => [policy, state],
  scheduleTransition: () => [policy, state, { kind: "fetched", position: 0 }],
  afterFailedPolls: () => [policy, state, 5],
  shouldFetch: () => [order, { queueLength: 1, visitsSinceFetch: 1, visitsSinceProgress: 1, fetchedThisLap: 0, allStuck: true }],
  insertPosition: () => [order, [1, 2], 1],
  initialThreshold: () => [stickiness, 1],
  onPreempt: () => [stickiness, 1],
  onSuccess: () => [stickiness, 8],
  startedAt: () => [1],
  quitTransition: () => [quit, startedAt(1), { now: 2, queueLength: 1, fetched: false, progressed: false, allStuck: true, triedAll: true }],
});

const folder = mkdtempSync(join(tmpdir(), "dfccl-tuning-"));
afterAll(() => rmSync(folder, { recursive: true }));
// Any text is a path, so each attempt would leave a file.
type Save = Parameters<typeof tuner.saveTuning>;
const saveTuning = (result: Save[1], machine: Save[2], savedAt: Save[3]) =>
  tuner.saveTuning(join(folder, "tuning.json"), result, machine, savedAt);

const writeWhole = (text: string) => tuner.writeWhole(join(folder, "text"), text);

testHostileValues(
  { ...tuner, saveTuning, writeWhole },
  {
    applyCandidate: () => [policy, candidate],
    candidateOf: () => [policy],
    drawCurve: () => [points, { fit: fitCurve(points), best: 2, width: 20, height: 4, label: "visits", colors: false }],
    fitCurve: () => [points],
    predict: () => [{ a: 1, b: 2, c: 3 }, 4],
    loadTuning: () => [missing, { cores: 2 }],
    saveTuning: () => [result, { cores: 2 }, new Date(0)],
    writeWhole: () => ["a text"],
    tune: () => [
      {
        measure: () => [{ ns: 1 }],
        start: candidate,
        ranges: { initialThreshold: [1, 64], raiseFactor: [1, 4], idleVisits: [1000, 20_000] },
        gridPoints: 3,
        zooms: 0,
        rounds: 1,
        seed: 1,
        onProgress: () => {},
      },
    ],
  },
);
