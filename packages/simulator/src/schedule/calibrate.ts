import { checkInteger, checkList, checkObject, InvalidArgumentError, readPlain } from "@dfccl/primitives";
import { simulationPolicy } from "@dfccl/scheduler";
import { checkAbove0 } from "./check-scenario.js";
import type { DaemonCosts } from "./scenario.js";
import { simulateSchedule } from "./simulate-schedule.js";
import type { Link } from "./topology.js";

/** An all-reduce that was measured. */
export interface MeasuredCase {
  readonly ranks: number;
  readonly bytes: number;
  readonly microseconds: number;
}

/** A measured case that the fit hasn't seen, and what the simulation says. */
export interface Prediction extends MeasuredCase {
  readonly predictedMicroseconds: number;
  /** (predicted - measured) / measured. */
  readonly error: number;
}

export interface Calibration {
  readonly predictions: readonly Prediction[];
  readonly medianError: number;
}

const costs: DaemonCosts = { pollNs: 10, stepNs: 0, switchNs: 0, restartNs: 0 };

/**
 * Fits links to every second measured case, by ranks and size, and predicts the others by simulation. A link has the
 * latency of the smallest case, and the bandwidth of its two neighbours in size: what fits into caches goes faster.
 * @throws {InvalidArgumentError} where fewer than six cases would be left to predict.
 */
export function calibrate(given: readonly MeasuredCase[]): Calibration {
  checkList("cases", given, "a list such as [{ ranks: 2, bytes: 1024, microseconds: 20 }]");
  const cases = readPlain("cases", given);
  cases.forEach((measured, i) => {
    checkObject(`cases[${i}]`, measured, "an object such as { ranks: 2, bytes: 1024, microseconds: 20 }");
    checkInteger(`cases[${i}].ranks`, measured.ranks, 2, 65_536);
    checkInteger(`cases[${i}].bytes`, measured.bytes, 1);
    checkAbove0(`cases[${i}].microseconds`, measured.microseconds);
  });
  const predictions = [...new Set(cases.map(({ ranks }) => ranks))].flatMap((ranks) => {
    const ofRanks = cases.filter((measured) => measured.ranks === ranks).sort((a, b) => a.bytes - b.bytes);
    const known = ofRanks.filter((_, i) => i % 2 === 0);
    return ofRanks.filter((_, i) => i % 2 === 1).map((measured) => predict(measured, known));
  });
  if (predictions.length < 6) throw new InvalidArgumentError("cases", cases.length, "at least six cases to predict, and as many to fit");
  const sizes = predictions.map(({ error }) => Math.abs(error)).sort((a, b) => a - b);
  return { predictions, medianError: sizes[Math.floor(sizes.length / 2)] ?? 0 };
}

function predict(measured: MeasuredCase, known: readonly MeasuredCase[]): Prediction {
  const { ranks, bytes } = measured;
  const link = linkFor(bytes, ranks, known);
  const everyone = Array.from({ length: ranks }, (_, rank) => rank);
  const { endNs } = simulateSchedule({
    topology: { ranksPerIsland: ranks, island: link, network: link },
    costs,
    policy: simulationPolicy("adaptive"),
    collectives: [{ bytes, ranks: everyone, priority: 0 }],
    hosts: everyone.map(() => [{ atNs: 0, collective: 0 }]),
  });
  const predictedMicroseconds = endNs / 1000;
  return { ...measured, predictedMicroseconds, error: predictedMicroseconds / measured.microseconds - 1 };
}

// Around a ring, all-reduce takes 2 (n - 1) steps of bytes / n.
function linkFor(bytes: number, ranks: number, known: readonly MeasuredCase[]): Link {
  const steps = 2 * (ranks - 1);
  const smallest = known[0]?.microseconds ?? 0;
  const alphaNs = (1000 * smallest) / steps;
  const bandwidths = known
    .filter((other) => other.microseconds > smallest)
    .map((other) => ({
      distance: Math.abs(Math.log(other.bytes / bytes)),
      gigabytesPerSecond: (steps * other.bytes) / ranks / (1000 * (other.microseconds - smallest)),
    }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 2);
  const logMean = bandwidths.reduce((sum, { gigabytesPerSecond }) => sum + Math.log(gigabytesPerSecond), 0) / bandwidths.length;
  return { alphaNs, gigabytesPerSecond: bandwidths.length === 0 ? 1 : Math.exp(logMean) };
}
