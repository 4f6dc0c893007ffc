import type { ListOrder } from "./config.js";

/** GPUs that share a list of collectives. */
export interface Group {
  readonly name: string;
  readonly gpus: readonly number[];
  readonly collectives: number;
}

/** A collective by its group and its number in there. */
export interface CollectiveName {
  readonly group: string;
  readonly index: number;
}

/**
 * GPUs that groups connect, directly or through others, and the lists that they go through. Whether one component deadlocks
 * depends on no other. Its GPUs are numbered from 0, and its collectives in an order that every GPU's list agrees with: the
 * lists ascend. So where no GPU leaves its list's order, there is no cycle.
 */
export interface Component {
  /** `gpus[local]`: the GPU's number in the whole configuration. */
  readonly gpus: readonly number[];
  readonly groups: readonly Group[];
  /** `lists[gpu]`: its collectives in order. */
  readonly lists: readonly Int32Array[];
  /** `offsets[gpu]`: submissions of all GPUs before it; the last entry is all submissions. */
  readonly offsets: Int32Array;
  /** `groupOf[collective]` and `indexOf[collective]` are its name. */
  readonly groupOf: Int32Array;
  readonly indexOf: Int32Array;
  /** `members[group]`: local GPUs. */
  readonly members: readonly Int32Array[];
}

/** Builds a component of groups that are connected. */
export function buildComponent(groups: readonly Group[], order: ListOrder): Component {
  const gpus = [...new Set(groups.flatMap((group) => group.gpus))].sort((a, b) => a - b);
  const local = new Map(gpus.map((gpu, index) => [gpu, index]));
  const members = groups.map((group) => Int32Array.from(group.gpus, (gpu) => local.get(gpu) ?? 0));
  const { groupOf, indexOf } = numberCollectives(groups, order);

  const lengths = new Int32Array(gpus.length);
  groups.forEach((group, g) => {
    for (const gpu of members[g] ?? []) lengths[gpu] = (lengths[gpu] ?? 0) + group.collectives;
  });
  const lists = Array.from(lengths, (length) => new Int32Array(length));
  const filled = new Int32Array(gpus.length);
  groupOf.forEach((group, collective) => {
    for (const gpu of members[group] ?? []) {
      const list = lists[gpu];
      const at = filled[gpu] ?? 0;
      if (list !== undefined) list[at] = collective;
      filled[gpu] = at + 1;
    }
  });
  const offsets = new Int32Array(gpus.length + 1);
  lengths.forEach((length, gpu) => {
    offsets[gpu + 1] = (offsets[gpu] ?? 0) + length;
  });
  return { gpus, groups, lists, offsets, groupOf, indexOf, members };
}

export function nameOf(component: Component, collective: number): CollectiveName {
  const group = component.groups[component.groupOf[collective] ?? 0];
  return { group: group?.name ?? "", index: component.indexOf[collective] ?? 0 };
}

/** Groups that share GPUs, directly or through others, together. */
export function connectedGroups(groups: readonly Group[]): readonly (readonly Group[])[] {
  const parent = groups.map((_, index) => index);
  const find = (index: number): number => {
    let root = index;
    while (parent[root] !== root) root = parent[root] ?? root;
    parent[index] = root;
    return root;
  };
  const firstOf = new Map<number, number>();
  groups.forEach((group, index) => {
    for (const gpu of group.gpus) {
      const first = firstOf.get(gpu);
      if (first === undefined) firstOf.set(gpu, index);
      else parent[find(index)] = find(first);
    }
  });
  const parts = new Map<number, Group[]>();
  groups.forEach((group, index) => {
    const root = find(index);
    const part = parts.get(root) ?? [];
    part.push(group);
    parts.set(root, part);
  });
  return [...parts.values()];
}

// Round-robin: the first of every group, the second of every group, and so on. Concatenated: group after group.
function numberCollectives(groups: readonly Group[], order: ListOrder): { groupOf: Int32Array; indexOf: Int32Array } {
  const total = groups.reduce((sum, group) => sum + group.collectives, 0);
  const [groupOf, indexOf] = [new Int32Array(total), new Int32Array(total)];
  let next = 0;
  const add = (group: number, index: number): void => {
    groupOf[next] = group;
    indexOf[next] = index;
    next += 1;
  };
  if (order === "concatenated") {
    groups.forEach((group, g) => {
      for (let index = 0; index < group.collectives; index += 1) add(g, index);
    });
  } else {
    const longest = groups.reduce((most, group) => Math.max(most, group.collectives), 0);
    for (let index = 0; index < longest; index += 1) {
      groups.forEach((group, g) => {
        if (index < group.collectives) add(g, index);
      });
    }
  }
  return { groupOf, indexOf };
}
