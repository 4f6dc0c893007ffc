import { InvalidArgumentError } from "@dfccl/primitives";
import type { RandomStream } from "./random-stream.js";

/** What the paper says of its free groups: how many of which size, and how many groups a GPU may belong to. */
export interface GroupPlan {
  readonly gpus: number;
  readonly sizes: readonly number[];
  readonly mostGroupsOfGpu: number;
  /** Half of the groups have the first number of collectives and half the second, at random. */
  readonly collectives: readonly [number, number];
}

export interface DrawnGroup {
  readonly gpus: number[];
  readonly collectives: number;
}

const mostAttempts = 1000;

/**
 * Draws groups as a plan describes them: each GPU gets a place in some group, and what places are left get any GPU that may
 * take one more, all at random.
 * @throws {InvalidArgumentError} if the plan has fewer places than GPUs, or more than the GPUs may take.
 */
export function drawGroups(plan: GroupPlan, random: RandomStream): readonly DrawnGroup[] {
  const places = plan.sizes.reduce((sum, size) => sum + size, 0);
  if (places < plan.gpus || places > plan.gpus * plan.mostGroupsOfGpu) {
    throw new InvalidArgumentError("plan.sizes", plan.sizes, `sizes with ${plan.gpus} to ${plan.gpus * plan.mostGroupsOfGpu} places`);
  }
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const groups = tryDraw(plan, random);
    if (groups !== undefined) return groups;
  }
  throw new InvalidArgumentError("plan", plan, "a plan for which groups can be drawn");
}

// Undefined where the last places find no GPU that may take them.
function tryDraw(plan: GroupPlan, random: RandomStream): readonly DrawnGroup[] | undefined {
  const slots = shuffled(
    plan.sizes.flatMap((size, group) => Array.from({ length: size }, () => group)),
    random,
  );
  const everyone = shuffled(
    Array.from({ length: plan.gpus }, (_, gpu) => gpu),
    random,
  );
  const members = plan.sizes.map(() => new Set<number>());
  const groupsOf = new Array<number>(plan.gpus).fill(0);
  for (const [i, group] of slots.entries()) {
    const open = (gpu: number): boolean => (groupsOf[gpu] ?? 0) < plan.mostGroupsOfGpu && members[group]?.has(gpu) === false;
    const candidates = i < everyone.length ? everyone.slice(i, i + 1) : everyone.filter(open);
    const gpu = candidates[random.below(candidates.length)];
    if (gpu === undefined) return undefined;
    members[group]?.add(gpu);
    groupsOf[gpu] = (groupsOf[gpu] ?? 0) + 1;
  }
  const [first, second] = plan.collectives;
  const counts = shuffled(
    plan.sizes.map((_, i) => (2 * i < plan.sizes.length ? first : second)),
    random,
  );
  return members.map((gpus, group) => ({ gpus: [...gpus].sort((a, b) => a - b), collectives: counts[group] ?? first }));
}

function shuffled<T>(values: readonly T[], random: RandomStream): T[] {
  const result = [...values];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = random.below(last + 1);
    const [a, b] = [result[last], result[other]];
    if (a !== undefined && b !== undefined) [result[last], result[other]] = [b, a];
  }
  return result;
}
