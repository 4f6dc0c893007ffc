import { buildComponent, type Component, connectedGroups, type Group } from "./component.js";
import type { DeadlockConfig, Grouping3d } from "./config.js";

/** Components of one form: pipeline stages differ in their GPUs' numbers only. */
export interface ComponentClass {
  readonly component: Component;
  /** `firstGpus[copy]`: what to add to the GPU numbers of the component. */
  readonly firstGpus: readonly number[];
  /** Number of the first copy among all components: the key of its random numbers. */
  readonly firstPart: number;
}

/** The components of a configuration, each form built once. */
export function componentsOf(config: DeadlockConfig): readonly ComponentClass[] {
  const { grouping, listOrder } = config;
  if (grouping.policy === "3d") {
    const component = buildComponent(stageGroups(grouping), listOrder);
    const stageGpus = grouping.tp * grouping.dp;
    return [{ component, firstGpus: Array.from({ length: grouping.pp }, (_, stage) => stage * stageGpus), firstPart: 0 }];
  }
  const groups = grouping.groups.map((group, index) => ({ ...group, name: `group ${index}` }));
  return connectedGroups(groups).map((part, index) => ({
    component: buildComponent(part, listOrder),
    firstGpus: [0],
    firstPart: index,
  }));
}

/**
 * Groups of one pipeline stage: dp tensor-parallel groups of consecutive GPUs, then tp data-parallel groups, strided.
 * @see DFCCL, Fig. 3
 */
function stageGroups({ tp, dp, collectivesPerTpGroup, collectivesPerDpGroup }: Grouping3d): readonly Group[] {
  const range = (length: number): number[] => Array.from({ length }, (_, i) => i);
  return [
    ...range(dp).map((d) => ({ name: `TP ${d}`, gpus: range(tp).map((t) => d * tp + t), collectives: collectivesPerTpGroup })),
    ...range(tp).map((t) => ({ name: `DP ${t}`, gpus: range(dp).map((d) => d * tp + t), collectives: collectivesPerDpGroup })),
  ];
}
