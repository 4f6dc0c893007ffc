import { checkFunction, checkInteger, checkList, checkOptions, type OptionNames, readPlain } from "@dfccl/primitives";
import { type SchedulePolicy, simulationPolicy } from "@dfccl/scheduler";
import { checkProbability } from "../../check-probability.js";
import { RandomStream } from "../../deadlock/random-stream.js";
import { gpuCosts, type HostAction, type ScheduleScenario, type SimulatedCollective } from "../scenario.js";
import { type ScheduleResult, simulateLongSchedule } from "../simulate-schedule.js";
import { infiniband, islands } from "../topology.js";

/** Sizes of 3D-parallel groups: tp · dp · pp GPUs. */
export type ScaleSizes = readonly [tp: number, dp: number, pp: number];

export interface ScaleResult {
  readonly sizes: ScaleSizes;
  readonly gpus: number;
  readonly collectives: number;
  readonly disorder: Disorder;
  /** Of the three simulations together. */
  readonly events: number;
  readonly seconds: number;
  /** Most that the process had in memory so far. */
  readonly peakBytes: number;
  /** The same order everywhere, without preemption: what there is to lose. */
  readonly inOrderNs: number;
  /** The same order everywhere, with preemption. */
  readonly endNs: number;
  /** In disorder, with preemption. */
  readonly disorderedNs: number;
  /** In disorder, as the next two. */
  readonly preemptionsPerGpu: number;
  readonly quitsPerGpu: number;
  readonly longestQueue: number;
}

/** That a GPU swaps a submission with the one before; or a random order of its own on every GPU. */
export type Disorder = number | "random";

export interface ScaleOptions {
  readonly seed: number;
  readonly disorder?: Disorder;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

const optionNames: OptionNames<ScaleOptions> = { seed: true, disorder: true, signal: true, onProgress: true };

/** 8 to 100,000 GPUs: tensor-parallel groups of a machine, ten machines a stage, more and more stages. */
export const scales: readonly ScaleSizes[] = [
  [8, 1, 1],
  [8, 10, 1],
  [8, 10, 10],
  [8, 10, 100],
  [8, 10, 1250],
];

/** 800 GPUs in larger and larger data-parallel groups. */
export const groupScales: readonly ScaleSizes[] = [
  [8, 5, 20],
  [8, 10, 10],
  [8, 25, 4],
  [8, 50, 2],
  [8, 100, 1],
];

/** From one order to none. */
export const disorders: readonly Disorder[] = [0, 0.02, 0.1, 0.2, 0.5, "random"];
const usualDisorder = 0.2;

const mostGpus = 200_000;
const perTpGroup = 2;
const [tpBytes, dpBytes] = [1_000_000, 400_000];
const submitEveryNs = 50_000;

/**
 * A few collectives of every tensor- and data-parallel group, on machines of eight GPUs: in one order without and with
 * preemption, and with neighbours swapped.
 * @returns undefined after an interruption.
 */
export async function simulateScale(sizes: ScaleSizes, options: ScaleOptions): Promise<ScaleResult | undefined> {
  checkOptions("options", options, optionNames, "an object such as { seed: 1 }");
  const { seed, disorder = usualDisorder, signal, onProgress } = options;
  const [tp, dp, pp] = readSizes(sizes);
  checkInteger("seed", seed, 0);
  if (disorder !== "random") checkProbability("disorder", disorder);
  if (onProgress !== undefined) checkFunction("onProgress", onProgress, "a function of the share that is done");
  const started = performance.now();
  const gpus = tp * dp * pp;
  const collectives = collectivesOf([tp, dp, pp]);
  const lists = listsOf(collectives, gpus);
  let finished = 0;
  const run = async (policy: SchedulePolicy, order: Disorder): Promise<ScheduleResult | undefined> => {
    const result = await simulateLongSchedule(scenarioOf(policy, collectives, disordered(lists, order, seed)), {
      ...(signal === undefined ? {} : { signal }),
      onProgress: (share) => options.onProgress?.((finished + share) / 3),
    });
    finished += 1;
    return result;
  };
  const adaptive = simulationPolicy("adaptive");
  const inOrder = await run(simulationPolicy("in-order", { streams: 1 }), 0);
  const ordered = inOrder === undefined ? undefined : await run(adaptive, 0);
  const swapped = ordered === undefined ? undefined : await run(adaptive, disorder);
  if (inOrder === undefined || ordered === undefined || swapped === undefined) return undefined;
  return {
    sizes,
    gpus,
    collectives: collectives.length,
    disorder,
    events: inOrder.events + ordered.events + swapped.events,
    seconds: (performance.now() - started) / 1000,
    peakBytes: 1024 * process.resourceUsage().maxRSS,
    inOrderNs: inOrder.endNs,
    endNs: ordered.endNs,
    disorderedNs: swapped.finished ? swapped.endNs : Number.POSITIVE_INFINITY,
    preemptionsPerGpu: swapped.preemptions / gpus,
    quitsPerGpu: swapped.quits / gpus,
    longestQueue: swapped.ranks.reduce((most, { queueLengths }) => queueLengths.reduce((a, b) => Math.max(a, b), most), 0),
  };
}

function readSizes(given: ScaleSizes): ScaleSizes {
  checkList("sizes", given, "three numbers, such as [8, 10, 10]");
  const sizes = readPlain("sizes", given);
  for (let i = 0; i < 3; i += 1) checkInteger(`sizes[${i}]`, sizes[i], 1, mostGpus);
  checkInteger("the product of sizes", sizes[0] * sizes[1] * sizes[2], 1, mostGpus);
  return sizes;
}

function scenarioOf(
  policy: SchedulePolicy,
  collectives: readonly SimulatedCollective[],
  lists: readonly (readonly number[])[],
): ScheduleScenario {
  return {
    topology: { ranksPerIsland: 8, island: islands.nvlink, network: infiniband },
    costs: gpuCosts,
    policy,
    collectives,
    hosts: lists.map((list) => list.map((collective, i): HostAction => ({ atNs: i * submitEveryNs, collective }))),
  };
}

function collectivesOf([tp, dp, pp]: ScaleSizes): readonly SimulatedCollective[] {
  const range = (length: number): number[] => Array.from({ length }, (_, i) => i);
  return range(pp).flatMap((stage) => {
    const first = stage * tp * dp;
    const tensor = range(dp).map((d) => range(tp).map((t) => first + d * tp + t));
    const data = range(tp).map((t) => range(dp).map((d) => first + d * tp + t));
    return [
      ...range(perTpGroup).flatMap(() => tensor.map((ranks) => ({ bytes: tpBytes, ranks, priority: 0 }))),
      ...data.map((ranks) => ({ bytes: dpBytes, ranks, priority: 0 })),
    ];
  });
}

function listsOf(collectives: readonly SimulatedCollective[], gpus: number): readonly (readonly number[])[] {
  const lists: number[][] = Array.from({ length: gpus }, () => []);
  collectives.forEach(({ ranks }, collective) => {
    for (const rank of ranks) lists[rank]?.push(collective);
  });
  return lists;
}

function disordered(lists: readonly (readonly number[])[], disorder: Disorder, seed: number): readonly (readonly number[])[] {
  if (disorder === 0) return lists;
  const random = new RandomStream();
  return lists.map((list, rank) => {
    const order = [...list];
    random.seed(seed, rank, 0);
    for (let i = 1; i < order.length; i += 1) {
      const other = disorder === "random" ? random.below(i + 1) : random.uniform() < disorder ? i - 1 : i;
      const [a = 0, b = 0] = [order[other], order[i]];
      [order[other], order[i]] = [b, a];
    }
    return order;
  });
}
