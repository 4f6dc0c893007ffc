import { DeadlockError, openWorld, type Rank, type RegisteredCollective, type World, type WorldOptions } from "@dfccl/core";
import { noProgress, type Progress } from "../terminal/progress.js";
import type { Workload } from "../workloads/workload.js";
import { ExactData } from "./exact-data.js";
import { Latencies } from "./latencies.js";
import { actionsOf, type Action, type OrderOptions } from "./submission-order.js";

export interface DisorderOptions extends OrderOptions {
  readonly workload: Workload;
  readonly iterations: number;
  readonly policy: WorldOptions["policy"];
}

export interface DisorderResult {
  /** Runs over all ranks that should complete. */
  readonly expected: number;
  readonly completed: number;
  /** Completed runs whose result differs in some bit. */
  readonly wrong: number;
  readonly synchronizations: number;
  /** Over all blocks of all ranks. */
  readonly preemptions: number;
  readonly preemptionsPerBlock: number;
  readonly quits: number;
  readonly meanQueueLength: number;
  readonly maxQueueLength: number;
  readonly latencyP50Ms: number;
  readonly latencyP99Ms: number;
  /** Communicating, without the comparison of results. */
  readonly seconds: number;
  /** All-reduce bus bandwidth as nccl-tests counts it, 2(n−1)/n of the bytes. */
  readonly busBandwidthGBs: number;
}

// Submissions between two turns of the event loop: the ranks' submissions interleave at this grain.
const burst = 16;

/** Every rank submits every tensor in an order of its own, iteration after iteration; every result is compared bit for bit. */
export async function runDisorder(options: DisorderOptions, progress: Progress = noProgress): Promise<DisorderResult> {
  const { workload, ranks, iterations } = options;
  using world = openWorld({ ranks, policy: options.policy ?? "default" });
  const setting = prepare(world, options);
  const latencies = new Latencies();
  let completed = 0;
  let wrong = 0;
  let synchronizations = 0;
  let seconds = 0;
  for (let iteration = 0; iteration < iterations; iteration += 1) {
    const began = performance.now();
    const perRank = setting.ranks.map(async (member) => {
      const actions = actionsOf(options, member.rank.number, iteration);
      synchronizations += actions.filter(({ kind }) => kind === "synchronize").length;
      await runActions(setting, member, actions, iteration, (milliseconds) => {
        completed += 1;
        latencies.add(milliseconds);
      });
    });
    await Promise.all(perRank);
    seconds += (performance.now() - began) / 1000;
    wrong += countWrong(setting, workload, iteration);
    progress.update(iteration + 1, wrong === 0 ? "iterations, all results exact" : `iterations, ${wrong} results wrong`);
  }
  const bytes = 4 * workload.tensors.reduce((sum, { elements }) => sum + elements, 0) * iterations;
  return {
    expected: ranks * workload.tensors.length * iterations,
    completed,
    wrong,
    synchronizations,
    ...summarizeCounters(world),
    latencyP50Ms: latencies.percentile(0.5),
    latencyP99Ms: latencies.percentile(0.99),
    seconds,
    busBandwidthGBs: (bytes * ((2 * (ranks - 1)) / ranks)) / seconds / 1e9,
  };
}

export interface ControlResult {
  readonly deadlocked: boolean;
  /** The cycle that the native watchdog found, as it words it. */
  readonly text: string;
  readonly cycle: readonly { readonly rank: number; readonly id: number; readonly state: string }[];
  readonly completed: number;
}

/** The same orders in a world that preempts nothing, one collective at a time on each rank, as NCCL runs a stream. */
export async function runControl(options: DisorderOptions): Promise<ControlResult> {
  using world = openWorld({ ranks: options.ranks, policy: "in-order", streams: 1 });
  const setting = prepare(world, options);
  let completed = 0;
  try {
    for (let iteration = 0; iteration < options.iterations; iteration += 1) {
      await Promise.all(
        setting.ranks.map((member) =>
          runActions(setting, member, actionsOf(options, member.rank.number, iteration), iteration, () => {
            completed += 1;
          }),
        ),
      );
    }
  } catch (error) {
    if (!(error instanceof DeadlockError)) throw error;
    const cycle = error.report.cycle.map(({ rank, id, state }) => ({ rank, id, state }));
    return { deadlocked: true, text: error.report.text, cycle, completed };
  }
  return { deadlocked: false, text: "It completed.", cycle: [], completed };
}

interface Member {
  readonly rank: Rank;
  readonly collectives: readonly RegisteredCollective[];
  readonly outputs: readonly Float32Array[];
}

interface Setting {
  readonly data: ExactData;
  readonly ranks: readonly Member[];
}

function prepare(world: World, { workload, seed }: DisorderOptions): Setting {
  const { tensors } = workload;
  const longest = Math.max(...tensors.map(({ elements }) => elements));
  const [first] = world.ranks;
  const data = new ExactData(world.ranks.length, longest, seed, (elements) =>
    first ? first.allocate("float32", elements) : new Float32Array(elements),
  );
  const ranks = world.ranks.map((rank) => ({
    rank,
    collectives: tensors.map(({ elements }, id) =>
      rank.register({ id, collective: "all-reduce", dataType: "float32", count: elements, op: "sum" }),
    ),
    outputs: tensors.map(({ elements }) => rank.allocate("float32", elements)),
  }));
  return { data, ranks };
}

async function runActions(
  { data }: Setting,
  { rank, collectives, outputs }: Member,
  actions: readonly Action[],
  iteration: number,
  onComplete: (milliseconds: number) => void,
): Promise<void> {
  const batches: PromiseLike<void>[] = [];
  let inBurst = 0;
  for (const action of actions) {
    if (action.kind === "synchronize") {
      await rank.synchronize();
      continue;
    }
    const collective = collectives[action.tensor];
    const output = outputs[action.tensor];
    if (!collective || !output) continue;
    const submittedAt = performance.now();
    const input = data.input(rank.number, action.tensor, iteration, output.length);
    batches.push(
      rank.submit([[collective, input, output]], {
        onComplete: ({ status }) => {
          if (status === "completed") onComplete(performance.now() - submittedAt);
        },
      }),
    );
    inBurst += 1;
    if (inBurst % burst === 0) await nextTurn();
  }
  await Promise.all(batches);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function countWrong({ data, ranks }: Setting, { tensors }: Workload, iteration: number): number {
  let wrong = 0;
  for (const { outputs } of ranks) {
    tensors.forEach((_, tensor) => {
      const output = outputs[tensor];
      if (output && data.wrongElements(output, tensor, iteration) > 0) wrong += 1;
    });
  }
  return wrong;
}

function summarizeCounters(world: World): Pick<
  DisorderResult,
  "preemptions" | "preemptionsPerBlock" | "quits" | "meanQueueLength" | "maxQueueLength"
> {
  const counters = world.ranks.map((rank) => rank.counters());
  const blocks = counters.flatMap((ofRank) => ofRank.blocks);
  const preemptions = blocks.reduce((sum, block) => sum + block.preemptions, 0);
  const visits = blocks.reduce((sum, block) => sum + block.visits, 0);
  return {
    preemptions,
    preemptionsPerBlock: preemptions / blocks.length,
    quits: counters.reduce((sum, { quits }) => sum + quits, 0),
    meanQueueLength: blocks.reduce((sum, block) => sum + block.meanQueueLength * block.visits, 0) / Math.max(1, visits),
    maxQueueLength: Math.max(...blocks.map((block) => block.maxQueueLength)),
  };
}
