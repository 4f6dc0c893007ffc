import { checkObject, InvalidArgumentError, readArgument } from "@dfccl/primitives";
import { checkPolicy } from "@dfccl/scheduler";
import type { DaemonCosts, HostAction, ScheduleScenario, SimulatedCollective } from "./scenario.js";
import type { Link } from "./topology.js";

// As in a workload: over a longer time, polls would be simulated for ever.
const mostNs = 1e12;
const expected = "what scenarioOf() returns, or an object like it";

/**
 * Refuses what would run for ever, or look like a deadlock that it isn't.
 * @throws {InvalidArgumentError} naming the field.
 */
export function checkScenario(scenario: ScheduleScenario): void {
  // Checked where it lies: a copy of millions of actions would take as long as the check.
  readArgument("scenario", expected, () => checkAll(scenario));
}

function checkAll(scenario: ScheduleScenario): void {
  checkObject("scenario", scenario, expected);
  const { topology, costs, policy, collectives, hosts } = scenario;
  checkObject("topology", topology, "an object such as { ranksPerIsland: 8, island: islands.nvlink, network: infiniband }");
  checkWhole("topology.ranksPerIsland", topology.ranksPerIsland, 1);
  checkLink("topology.island", topology.island);
  checkLink("topology.network", topology.network);
  checkCosts(costs);
  checkPolicy(policy);
  checkList("collectives", collectives);
  checkList("hosts", hosts);
  // Lists of ranks that collectives share are looked at once: all of them may be on all of many ranks.
  const known = new Map<readonly number[], ReadonlySet<number>>();
  const members = collectives.map((collective, i) => {
    const field = `collectives[${i}]`;
    checkCollective(field, collective);
    const set = known.get(collective.ranks) ?? membersOf(field, collective.ranks, hosts.length);
    known.set(collective.ranks, set);
    return set;
  });
  for (const [rank, actions] of hosts.entries()) checkActions(`hosts[${rank}]`, actions, rank, members);
}

export function checkLink(field: string, link: Link): void {
  checkObject(field, link, "an object such as { alphaNs: 700, gigabytesPerSecond: 350 }");
  checkTime(`${field}.alphaNs`, link.alphaNs);
  checkAbove0(`${field}.gigabytesPerSecond`, link.gigabytesPerSecond);
}

function checkCosts(costs: DaemonCosts): void {
  checkObject("costs", costs, "an object such as gpuCosts");
  checkAbove0("costs.pollNs", costs.pollNs);
  checkTime("costs.stepNs", costs.stepNs);
  checkTime("costs.switchNs", costs.switchNs);
  checkTime("costs.restartNs", costs.restartNs);
}

function checkCollective(field: string, collective: SimulatedCollective): void {
  checkObject(field, collective, "an object such as { bytes: 1024, ranks: [0, 1], priority: 0 }");
  checkAbove0(`${field}.bytes`, collective.bytes);
  if (!Number.isFinite(collective.priority)) throw new InvalidArgumentError(`${field}.priority`, collective.priority, "a number");
}

function membersOf(field: string, ranks: readonly number[], rankCount: number): ReadonlySet<number> {
  checkList(`${field}.ranks`, ranks);
  const members = new Set(ranks);
  for (const rank of members) {
    if (Number.isInteger(rank) && rank >= 0 && rank < rankCount) continue;
    throw new InvalidArgumentError(`a rank of ${field}`, rank, `a rank from 0 to ${rankCount - 1}, one for each of hosts`);
  }
  if (members.size === ranks.length) return members;
  throw new InvalidArgumentError(`${field}.ranks`, ranks, "each rank once");
}

function checkActions(field: string, actions: readonly HostAction[], rank: number, members: readonly ReadonlySet<number>[]): void {
  if (!Array.isArray(actions)) throw new InvalidArgumentError(field, actions, "a list of what the rank's host does");
  const submitted = new Set<number>();
  for (const [i, action] of actions.entries()) {
    checkObject(`${field}[${i}]`, action, "an object such as { atNs: 0, collective: 0 }");
    const { atNs, collective } = action;
    checkTime(`${field}[${i}].atNs`, atNs, 2 * mostNs); // a workload's time, and how late the rank is
    if (collective === undefined) continue;
    if (typeof collective !== "number" || !members[collective]?.has(rank)) {
      throw new InvalidArgumentError(`${field}[${i}].collective`, collective, `the index of a collective that rank ${rank} is in`);
    }
    if (submitted.has(collective)) throw new InvalidArgumentError(`${field}[${i}].collective`, collective, "each collective once");
    submitted.add(collective);
  }
}

function checkList(field: string, value: readonly unknown[]): void {
  if (!Array.isArray(value) || value.length === 0) throw new InvalidArgumentError(field, value, "a list of at least one");
}

function checkWhole(field: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least) throw new InvalidArgumentError(field, value, `a whole number from ${least}`);
}

export function checkTime(field: string, value: number, most = mostNs): void {
  if (Number.isFinite(value) && value >= 0 && value <= most) return;
  throw new InvalidArgumentError(field, value, `a number of nanoseconds from 0${upTo(most)}`);
}

export function checkAbove0(field: string, value: number, most = Number.MAX_VALUE): void {
  if (Number.isFinite(value) && value > 0 && value <= most) return;
  throw new InvalidArgumentError(field, value, `a number above 0${upTo(most)}`);
}

function upTo(most: number): string {
  return most === Number.MAX_VALUE ? "" : ` and up to ${most}`;
}
