import { checkInteger, InvalidArgumentError } from "@dfccl/primitives";
import { type DeadlockConfig, parseDeadlockConfig } from "./config.js";
import { type FoundDeadlock, RoundSimulator } from "./simulate-round.js";

/** Rounds are numbered from 0, and seeds are, too. */
export const mostRounds = 1e9;

/**
 * The deadlock of one round.
 * @throws {InvalidArgumentError} if it has none; {SimulationConfigError} where the configuration isn't valid.
 */
export function findDeadlock(config: DeadlockConfig, seed: number, round: number): FoundDeadlock {
  const checked = parseDeadlockConfig(config);
  checkInteger("seed", seed, 0, mostRounds);
  checkInteger("round", round, 0, mostRounds);
  const found = new RoundSimulator(checked, seed).simulate(round);
  if (found === undefined) throw new InvalidArgumentError("round", round, "a round that deadlocks");
  return found;
}
