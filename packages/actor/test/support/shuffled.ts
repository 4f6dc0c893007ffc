import type { SeededRandom } from "@dfccl/primitives";

export function shuffled<T>(list: readonly T[], random: SeededRandom): T[] {
  const copy = [...list];
  for (let last = copy.length - 1; last > 0; last -= 1) {
    const other = random.below(last + 1);
    [copy[last], copy[other]] = [copy[other] as T, copy[last] as T];
  }
  return copy;
}
