import { checkFunction, checkOptions, type OptionNames } from "@dfccl/primitives";
import { checkScenario } from "./check-scenario.js";
import { EventQueue } from "./event-queue.js";
import { RunningCollective } from "./running-collective.js";
import type { ScheduleScenario } from "./scenario.js";
import { SimulatedRank, type SimulatedWorld } from "./simulated-rank.js";
import { Links } from "./topology.js";

export interface ScheduleResult {
  /** Everything completed; otherwise nothing can move any more, which is a deadlock. */
  readonly finished: boolean;
  readonly endNs: number;
  /** `completedAtNs[collective]`: on its last rank; Infinity if never. */
  readonly completedAtNs: readonly number[];
  readonly preemptions: number;
  readonly quits: number;
  readonly events: number;
  readonly ranks: readonly RankResult[];
}

const eventsAtOnce = 50_000;

export interface RankResult {
  readonly preemptions: number;
  readonly quits: number;
  readonly queueLengths: readonly number[];
  readonly preemptionsOf: readonly number[];
}

export interface ScheduleOptions {
  /** One event for each poll, also where it is known to find nothing: slow, to check the skipping. */
  readonly everyPoll?: boolean;
  /** Told of each change of a rank's task queue. */
  readonly onQueueLength?: (rank: number, atNs: number, length: number) => void;
}

const scheduleNames: OptionNames<ScheduleOptions> = { everyPoll: true, onQueueLength: true };
const example = "an object such as { everyPoll: true }";

/**
 * Simulates daemons on ranks, event by event, with the very policies of packages/scheduler.
 * @throws {InvalidArgumentError} for a scenario that makes no sense, {UnknownOptionError}
 */
export function simulateSchedule(scenario: ScheduleScenario, options: ScheduleOptions = {}): ScheduleResult {
  checkOptions("options", options, scheduleNames, example);
  checkCallbacks(options);
  checkScenario(scenario);
  const simulation = new ScheduleSimulation(scenario, options);
  while (!simulation.advance(eventsAtOnce));
  return simulation.result();
}

function checkCallbacks({ onQueueLength, onProgress }: LongScheduleOptions): void {
  if (onQueueLength !== undefined) checkFunction("onQueueLength", onQueueLength, "a function of rank, time and length");
  if (onProgress !== undefined) checkFunction("onProgress", onProgress, "a function of the share that is done");
}

export interface LongScheduleOptions extends ScheduleOptions {
  readonly signal?: AbortSignal;
  /** @param share - of the collectives, those that are completed. */
  readonly onProgress?: (share: number) => void;
}

const longNames: OptionNames<LongScheduleOptions> = { ...scheduleNames, signal: true, onProgress: true };

/**
 * The same for what takes long: it lets others have the thread now and then.
 * @returns undefined after an interruption.
 * @throws {InvalidArgumentError}, UnknownOptionError
 */
export async function simulateLongSchedule(scenario: ScheduleScenario, options: LongScheduleOptions): Promise<ScheduleResult | undefined> {
  checkOptions("options", options, longNames, example);
  checkCallbacks(options);
  checkScenario(scenario);
  const { signal } = options;
  const simulation = new ScheduleSimulation(scenario, options);
  let isOver = false;
  while (!isOver) {
    // Before the first events too: what is simulated in no time is interrupted as well, and so is a row of such.
    await new Promise(setImmediate);
    if (signal?.aborted) return undefined;
    isOver = simulation.advance(eventsAtOnce);
    if (!isOver) options.onProgress?.(simulation.completedShare);
  }
  return simulation.result();
}

class ScheduleSimulation implements SimulatedWorld {
  readonly links: Links;
  now = 0;
  readonly #events = new EventQueue();
  readonly #ranks: readonly SimulatedRank[];
  readonly #running = new Map<number, RunningCollective>();
  readonly #completions: Int32Array;
  readonly #completedAt: number[];
  readonly #quietNs: number;
  #unfinished: number;
  #completedCount = 0;
  #progressAt = 0; // in the future while data is on its way
  #handled = 0;

  constructor(
    readonly scenario: ScheduleScenario,
    readonly options: ScheduleOptions,
  ) {
    this.#quietNs = longestQuietNs(scenario);
    this.links = new Links(scenario.topology);
    this.#ranks = scenario.hosts.map((actions, rank) => new SimulatedRank(this, rank, actions));
    this.#completions = new Int32Array(scenario.collectives.length);
    this.#completedAt = scenario.collectives.map(() => Number.POSITIVE_INFINITY);
    for (const rank of this.#ranks) this.wake(rank, rank.actions[0]?.atNs ?? Number.POSITIVE_INFINITY);
    this.#unfinished = this.#ranks.filter((rank) => !rank.isFinished).length;
  }

  rank(rank: number): SimulatedRank | undefined {
    return this.#ranks[rank];
  }

  /** Makes sure that a rank steps at a time, or before. */
  wake(rank: SimulatedRank, time: number): void {
    if (time >= rank.wakeAt || !Number.isFinite(time)) return;
    rank.wakeAt = time;
    this.#events.add(time, rank.rank);
  }

  running(collective: number): RunningCollective | undefined {
    const known = this.#running.get(collective);
    const description = this.scenario.collectives[collective];
    if (known !== undefined || description === undefined) return known;
    const begun = new RunningCollective(description);
    this.#running.set(collective, begun);
    return begun;
  }

  noteProgress(until: number): void {
    this.#progressAt = Math.max(this.#progressAt, until);
  }

  finish(collective: number, time: number): void {
    const count = (this.#completions[collective] ?? 0) + 1;
    this.#completions[collective] = count;
    if (count < (this.scenario.collectives[collective]?.ranks.length ?? 0)) return;
    this.#completedAt[collective] = time;
    this.#completedCount += 1;
    this.#running.delete(collective);
  }

  #isDeadlocked(): boolean {
    if (this.now - this.#progressAt <= this.#quietNs) return false;
    if (!this.#ranks.some((rank) => rank.isExpectingSomething)) return true;
    this.#progressAt = this.now;
    return false;
  }

  /** Share of the collectives that are completed everywhere. */
  get completedShare(): number {
    return this.#completedCount / this.#completedAt.length;
  }

  /** Handles so many events. @returns whether nothing is left to happen. */
  advance(events: number): boolean {
    for (let i = 0; i < events; i += 1) {
      const time = this.#events.nextTime;
      const rank = this.#ranks[this.#events.take() ?? -1];
      if (rank === undefined) return true;
      if (rank.wakeAt !== time) continue;
      this.now = time;
      this.#handled += 1;
      rank.wakeAt = Number.POSITIVE_INFINITY;
      const wasFinished = rank.isFinished;
      rank.step();
      this.#unfinished += Number(wasFinished) - Number(rank.isFinished);
      if (this.#unfinished === 0 || this.#isDeadlocked()) return true;
    }
    return false;
  }

  result(): ScheduleResult {
    return {
      finished: this.#unfinished === 0,
      endNs: this.#completedAt.reduce((latest, time) => (Number.isFinite(time) ? Math.max(latest, time) : latest), 0),
      completedAtNs: this.#completedAt,
      preemptions: this.#ranks.reduce((sum, rank) => sum + rank.preemptions, 0),
      quits: this.#ranks.reduce((sum, rank) => sum + rank.quits, 0),
      events: this.#handled,
      ranks: this.#ranks.map(({ preemptions, quits, queueLengths, preemptionsOf }) => ({
        preemptions,
        quits,
        queueLengths,
        preemptionsOf,
      })),
    };
  }
}

// Within this, every rank's daemon polls its full queue twice over, quits and begins anew: what is stuck then stays stuck,
// unless something is still to come.
function longestQuietNs({ hosts, policy: { stickiness, quit }, costs }: ScheduleScenario): number {
  const mostTasks = hosts.reduce((most, actions) => Math.max(most, actions.length), 0);
  const lapNs = mostTasks * (stickiness.maximumThreshold * costs.pollNs + costs.switchNs);
  return 2 * (2 * lapNs + quit.idleVisits * costs.pollNs + quit.idleTicks + quit.residencyTicks + costs.restartNs);
}
