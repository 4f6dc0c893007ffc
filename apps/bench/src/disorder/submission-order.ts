import { Random } from "./random.js";

export const orderKinds = ["random", "reverse", "skewed", "same"] as const;
export type OrderKind = (typeof orderKinds)[number];

/** What one rank does in one iteration: submit a tensor, or synchronize its device. */
export type Action = { readonly kind: "submit"; readonly tensor: number } | { readonly kind: "synchronize" };

export interface OrderOptions {
  readonly order: OrderKind;
  readonly tensors: number;
  readonly ranks: number;
  /** Probability of a device synchronization after each submission. */
  readonly sync: number;
  readonly seed: number;
}

/**
 * A rank's actions in an iteration. Only the seed decides them, so that the control runs the very same ones.
 *
 * - random: an order of the rank's own, new in each iteration
 * - reverse: backward order on even ranks, forward order on odd ones
 * - skewed: backward order, begun at another place on each rank
 * - same: backward order everywhere
 */
export function actionsOf(options: OrderOptions, rank: number, iteration: number): Action[] {
  const random = new Random(options.seed, iteration, rank);
  return orderOf(options, rank, random).flatMap((tensor): Action[] => {
    const submit: Action = { kind: "submit", tensor };
    return random.fraction() < options.sync ? [submit, { kind: "synchronize" }] : [submit];
  });
}

function orderOf({ order, tensors, ranks }: OrderOptions, rank: number, random: Random): number[] {
  const backward = Array.from({ length: tensors }, (_, index) => tensors - 1 - index);
  switch (order) {
    case "random":
      return random.shuffle(backward);
    case "reverse":
      return rank % 2 === 0 ? backward : backward.reverse();
    case "skewed": {
      const shift = Math.floor((rank * tensors) / ranks);
      return [...backward.slice(shift), ...backward.slice(0, shift)];
    }
    case "same":
      return backward;
  }
}
