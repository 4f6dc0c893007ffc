import { checkOptions } from "@dfccl/primitives";
import { type ChunkRunner, startRunner } from "./chunk-runner.js";
import { type DeadlockConfig, gpusOf, type ListOrder, parseDeadlockConfig } from "./config.js";
import { checkDeadlockOptions, type DeadlockOptions, deadlockOptionNames, type RatioEstimate, simulateOn } from "./simulate-deadlocks.js";
import { table1 } from "./table1.js";

/** Deadlock ratio over one of the quantities that it depends on. */
export interface DeadlockFigure {
  readonly title: string;
  readonly xName: string;
  readonly curves: readonly RatioCurve[];
  /** The paper's points. */
  readonly published: readonly { readonly name: string; readonly x: number; readonly ratio: number }[];
}

export interface RatioCurve {
  readonly name: string;
  readonly points: readonly (RatioEstimate & { readonly x: number })[];
}

interface CurvePlan {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly config: DeadlockConfig }[];
}

interface FigurePlan extends Omit<DeadlockFigure, "curves"> {
  readonly curves: readonly CurvePlan[];
}

const orderNames: Readonly<Record<ListOrder, string>> = { "round-robin": "lists take turns", concatenated: "group by group" };

/** From 10^`from` to 10^`to`, two a decade. */
function decades(from: number, to: number): readonly number[] {
  return Array.from({ length: 2 * (to - from) + 1 }, (_, i) => Number((10 ** (from + i / 2)).toPrecision(2)));
}

interface Stages {
  readonly sizes: readonly [tp: number, dp: number, pp: number];
  readonly p: number;
  /** No synchronizations: the single-queue model. */
  readonly s?: number;
  /** Times the 400 and 1200 collectives of a group. */
  readonly factor?: number;
}

function stages({ sizes: [tp, dp, pp], p, s, factor = 1 }: Stages, listOrder: ListOrder): DeadlockConfig {
  return parseDeadlockConfig({
    model: s === undefined ? "single-queue" : "synchronization",
    grouping: { policy: "3d", tp, dp, pp, collectivesPerTpGroup: 400 * factor, collectivesPerDpGroup: 1200 * factor },
    disorderProbability: p,
    synchronizationProbability: s ?? 0,
    listOrder,
  });
}

/** A curve for each order of the lists. */
function curves(name: string, xs: readonly number[], setting: (x: number) => Stages): readonly CurvePlan[] {
  return (["round-robin", "concatenated"] as const).map((order) => ({
    name: `${name}, ${orderNames[order]}`,
    points: xs.map((x) => ({ x, config: stages(setting(x), order) })),
  }));
}

const rowsOf = (name: string, model: DeadlockConfig["model"]) =>
  table1.filter((row) => row.name === name && row.model === model && row.paper !== undefined);

function figurePlans(): readonly FigurePlan[] {
  const small: Stages["sizes"] = [4, 4, 4];
  const large: Stages["sizes"] = [8, 6, 64];
  const [smallName, largeName] = ["(4, 4, 4)-3D", "(8, 6, 64)-3D"];
  const synchronized = rowsOf(smallName, "synchronization").filter(({ collectives }) => collectives === "400, 1200");
  const usual = synchronized.find((row) => row.disorderProbability === 4e-3 && row.synchronizationProbability === 4e-3);
  const longer = rowsOf(smallName, "synchronization").find(({ collectives }) => collectives === "800, 2400");
  return [
    {
      title: "One queue: over the disorder probability",
      xName: "disorder probability",
      curves: [
        ...curves(smallName, decades(-8, -4), (p) => ({ sizes: small, p })),
        ...curves(largeName, decades(-10, -6), (p) => ({ sizes: large, p })),
      ],
      published: [smallName, largeName].flatMap((name) =>
        rowsOf(name, "single-queue").map((row) => ({ name, x: row.disorderProbability, ratio: row.paper ?? 0 })),
      ),
    },
    {
      title: `With synchronizations: over either probability, the other 0.004, ${smallName}`,
      xName: "probability",
      curves: [
        ...curves("disorder", decades(-4, -1.5), (p) => ({ sizes: small, p, s: 4e-3 })),
        ...curves("synchronization", decades(-4, -1.5), (s) => ({ sizes: small, p: 4e-3, s })),
      ],
      published: synchronized.flatMap(({ disorderProbability: p, synchronizationProbability: s, paper = 0 }) => [
        ...(s === 4e-3 ? [{ name: "disorder", x: p, ratio: paper }] : []),
        ...(p === 4e-3 ? [{ name: "synchronization", x: s, ratio: paper }] : []),
      ]),
    },
    {
      title: "Over GPUs: more pipeline stages, both probabilities 0.004",
      xName: "GPUs",
      curves: curves("(4, 4, pp)-3D", [16, 32, 64, 128, 256, 512], (gpus) => ({ sizes: [4, 4, gpus / 16], p: 4e-3, s: 4e-3 })),
      published:
        usual === undefined ? [] : [{ name: smallName, x: gpusOf(usual.configuration("round-robin", 0, 0)), ratio: usual.paper ?? 0 }],
    },
    {
      title: "Over collectives: longer lists, both probabilities 0.004",
      xName: "collectives of a GPU",
      curves: curves(smallName, [100, 200, 400, 800, 1600, 3200, 6400], (length) => ({
        sizes: small,
        p: 4e-3,
        s: 4e-3,
        factor: length / 1600,
      })),
      published: [
        { x: 1600, ratio: usual?.paper },
        { x: 3200, ratio: longer?.paper },
      ].map(({ x, ratio = 0 }) => ({ name: smallName, x, ratio })),
    },
  ];
}

/**
 * Deadlock ratio over probabilities, GPUs and collectives, with the paper's points for comparison.
 * @returns what is finished: after an interruption, the last curve ends early.
 * @throws {InvalidArgumentError}, UnknownOptionError
 */
export async function simulateFigures(options: DeadlockOptions): Promise<readonly DeadlockFigure[]> {
  checkOptions("options", options, deadlockOptionNames, "an object such as { rounds: 1000, seed: 1 }");
  checkDeadlockOptions(options);
  const plans = figurePlans();
  const total = plans.flatMap((plan) => plan.curves.flatMap(({ points }) => points)).length;
  await using runner = startRunner(options.workers);
  let done = 0;
  const onPoint = (): void => {
    done += 1;
    options.onProgress?.(done / total);
  };
  const figures: DeadlockFigure[] = [];
  for (const plan of plans) {
    if (options.signal?.aborted) break;
    const drawn: RatioCurve[] = [];
    for (const curve of plan.curves) drawn.push(await simulateCurve(runner, curve, options, onPoint));
    figures.push({ ...plan, curves: drawn });
  }
  return figures;
}

async function simulateCurve(runner: ChunkRunner, { name, points }: CurvePlan, options: DeadlockOptions, onPoint: () => void) {
  const { rounds, seed, signal } = options;
  const finished: RatioCurve["points"][number][] = [];
  for (const { x, config } of points) {
    const result = await simulateOn(runner, config, { rounds, seed, ...(signal === undefined ? {} : { signal }) });
    if (result.partial) break;
    const { deadlocks, ratio, interval } = result;
    finished.push({ x, rounds, deadlocks, ratio, interval });
    onPoint();
  }
  return { name, points: finished };
}
