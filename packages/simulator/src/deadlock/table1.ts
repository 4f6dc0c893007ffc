import { type DeadlockConfig, type ListOrder, parseDeadlockConfig } from "./config.js";
import { drawGroups, type GroupPlan } from "./draw-groups.js";
import { RandomStream } from "./random-stream.js";

/** What someone else found for a row. */
export interface PublishedCount {
  readonly deadlocks: number;
  readonly rounds: number;
}

/** A row of the paper's Table 1, or a setting of which its authors committed a count only. */
export interface Table1Row {
  readonly name: string;
  readonly model: DeadlockConfig["model"];
  readonly grouping: "3D" | "free";
  /** As the paper writes it: per tensor- and data-parallel group, or per group. */
  readonly collectives: string;
  readonly disorderProbability: number;
  readonly synchronizationProbability: number;
  /** The paper's ratio; undefined for settings that it leaves out. */
  readonly paper?: number;
  readonly authors?: PublishedCount;
  /** Free groups aren't published, so they are drawn: every draw is another configuration. */
  readonly isDrawn: boolean;
  configuration(listOrder: ListOrder, draw: number, seed: number): DeadlockConfig;
}

interface Published {
  readonly p: number;
  readonly s?: number;
  readonly paper?: number;
  readonly authors?: readonly [deadlocks: number, rounds: number];
}

function publishedFields({ p, s, paper, authors }: Published) {
  return {
    model: s === undefined ? ("single-queue" as const) : ("synchronization" as const),
    disorderProbability: p,
    synchronizationProbability: s ?? 0,
    ...(paper === undefined ? {} : { paper }),
    ...(authors === undefined ? {} : { authors: { deadlocks: authors[0], rounds: authors[1] } }),
  };
}

function row3d(sizes: readonly [number, number, number], collectives: readonly [number, number], published: Published): Table1Row {
  const fields = publishedFields(published);
  const [tp, dp, pp] = sizes;
  const [collectivesPerTpGroup, collectivesPerDpGroup] = collectives;
  return {
    name: `(${sizes.join(", ")})-3D`,
    grouping: "3D",
    collectives: collectives.join(", "),
    ...fields,
    isDrawn: false,
    configuration: (listOrder) =>
      parseDeadlockConfig({
        model: fields.model,
        grouping: { policy: "3d", tp, dp, pp, collectivesPerTpGroup, collectivesPerDpGroup },
        disorderProbability: fields.disorderProbability,
        synchronizationProbability: fields.synchronizationProbability,
        listOrder,
      }),
  };
}

function rowOfOneGroup(published: Published): Table1Row {
  const fields = publishedFields(published);
  const groups = [{ gpus: [0, 1, 2, 3, 4, 5, 6, 7], collectives: 161 }];
  return {
    name: "(1, 8)-free",
    grouping: "free",
    collectives: "161",
    ...fields,
    isDrawn: false,
    configuration: (listOrder) => freeConfig(fields, 8, groups, listOrder),
  };
}

// 28 groups of three GPUs and four of eight; with 128 GPUs, two more in each.
function rowFree(gpus: 64 | 128, collectives: readonly [number, number], published: Published): Table1Row {
  const fields = publishedFields(published);
  const more = gpus === 64 ? 0 : 2;
  const sizes = Array.from({ length: 32 }, (_, group) => (group < 28 ? 3 : 8) + more);
  const plan: GroupPlan = { gpus, sizes, mostGroupsOfGpu: 5, collectives };
  return {
    name: `(32, ${gpus})-free`,
    grouping: "free",
    collectives: collectives.join(" or "),
    ...fields,
    isDrawn: true,
    // The same draws for every probability, so that rows differ in what they are meant to differ in.
    configuration: (listOrder, draw, seed) =>
      freeConfig(fields, gpus, drawGroups(plan, new RandomStream().seed(seed, draw, gpus)), listOrder),
  };
}

function freeConfig(
  fields: ReturnType<typeof publishedFields>,
  gpus: number,
  groups: readonly { gpus: number[]; collectives: number }[],
  listOrder: ListOrder,
): DeadlockConfig {
  return parseDeadlockConfig({
    model: fields.model,
    grouping: { policy: "free", gpus, groups },
    disorderProbability: fields.disorderProbability,
    synchronizationProbability: fields.synchronizationProbability,
    listOrder,
  });
}

/**
 * Table 1, with the ratio that only the text has (6.94%, "both 0.004%"), and last what the authors counted besides.
 * @see DFCCL, Table 1 and section 2.4.3
 */
export const table1: readonly Table1Row[] = [
  row3d([4, 4, 4], [400, 1200], { p: 1e-7, paper: 0.011 }),
  row3d([4, 4, 4], [400, 1200], { p: 1e-6, paper: 0.0997 }),
  row3d([8, 6, 64], [400, 1200], { p: 1e-9, paper: 0.0047 }),
  row3d([8, 6, 64], [400, 1200], { p: 1e-8, paper: 0.0359 }),
  rowOfOneGroup({ p: 1e-5, paper: 0.0121 }),
  rowFree(64, [400, 1200], { p: 1e-6, paper: 0.0098 }),
  rowFree(128, [400, 1200], { p: 1e-5, paper: 0.0945 }),
  rowFree(128, [400, 1200], { p: 1e-6, paper: 0.0172 }),
  row3d([4, 4, 4], [400, 1200], { p: 2e-3, s: 4e-3, paper: 0.0068 }),
  row3d([4, 4, 4], [400, 1200], { p: 4e-3, s: 4e-3, paper: 0.0138 }),
  row3d([4, 4, 4], [400, 1200], { p: 4e-3, s: 2e-3, paper: 0.0032 }),
  row3d([4, 4, 4], [800, 2400], { p: 4e-3, s: 4e-3, paper: 0.0256 }),
  row3d([8, 6, 64], [400, 1200], { p: 8e-4, s: 8e-4, paper: 0.0156 }),
  rowFree(64, [400, 1200], { p: 4e-6, s: 4e-5, paper: 0.0081 }),
  rowFree(64, [400, 1200], { p: 4e-5, s: 4e-5, paper: 0.0116, authors: [14, 3200] }),
  rowFree(64, [400, 1200], { p: 4e-5, s: 8e-5, paper: 0.0656, authors: [126, 3200] }),
  rowFree(64, [800, 2400], { p: 4e-5, s: 4e-5, paper: 0.0694, authors: [103, 3200] }),
  rowFree(128, [400, 1200], { p: 4e-5, s: 4e-5, paper: 0.0234, authors: [47, 3200] }),
  row3d([4, 4, 4], [400, 1200], { p: 8e-3, s: 8e-3, authors: [360, 3200] }),
  rowOfOneGroup({ p: 1e-3, s: 1e-3, authors: [0, 32_000] }),
  rowOfOneGroup({ p: 1e-2, s: 1e-2, authors: [300, 32_000] }),
];
