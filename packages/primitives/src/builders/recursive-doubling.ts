import type { LocalChunk, RecvEnd, SendEnd, Step } from "../program.js";
import type { Builder, LaneContext } from "./builder.js";
import { copy, input, output, recv, recvReduceCopy, send } from "./step-factory.js";

// In round k, partners at distance 2^k exchange all that they have: log2 R rounds. That takes a power of two, so the
// ranks beyond it (`guests`) first hand their data to a neighbour (their `host`) and get the result back at the end:
//
//     rank      0      1    2      3    4    5         R = 6: two hosts, each with a guest
//     player    0 (+ 1)     1 (+ 3)     2    3

interface Role {
  readonly guestCount: number;
  readonly playerCount: number;
  /** Undefined for a guest. */
  readonly player: number | undefined;
  /** The host's guest, or the guest's host. */
  readonly companion: number | undefined;
  /** The player's own rank, which is also the first of all ranks from this player on, guests included. */
  rankOf(player: number): number;
}

export function roleOf(rank: number, rankCount: number): Role {
  const playerCount = 2 ** Math.floor(Math.log2(rankCount));
  const guestCount = rankCount - playerCount;
  const isPaired = rank < 2 * guestCount;
  const isGuest = isPaired && rank % 2 === 1;
  return {
    guestCount,
    playerCount,
    player: isGuest ? undefined : isPaired ? rank / 2 : rank - guestCount,
    companion: isPaired ? rank ^ 1 : undefined,
    rankOf: (player) => player + Math.min(player, guestCount),
  };
}

/** Exchanges whole partial sums. Partners add the same two values, so all ranks get the same bits. */
export const recursiveDoublingAllReduce: Builder = {
  inPlace: true,
  outOfPlace: true,
  steps: (context) => {
    const { player, playerCount, companion, rankOf } = roleOf(context.rank, context.rankCount);
    const own = input(context.chunk(0));
    const result = output(context.chunk(0));
    if (player === undefined) {
      const host = context.to(companion ?? 0);
      return [[send(own, host), recv(result, host)]];
    }
    const steps: Step[] = [];
    if (companion !== undefined) steps.push(recvReduceCopy(result, own, context.to(companion)));
    for (let distance = 1; distance < playerCount; distance *= 2) {
      const partner = context.to(rankOf(player ^ distance));
      const partial = steps.length === 0 ? own : result;
      steps.push(send(partial, partner), recvReduceCopy(result, partial, partner));
    }
    if (companion !== undefined) steps.push(send(result, context.to(companion)));
    return [steps];
  },
};

/** Exchanges ranges of neighbouring segments that double in every round. With one channel a range is one message. */
export const recursiveDoublingAllGather: Builder = {
  inPlace: true,
  outOfPlace: true,
  steps: (context) => [allGatherSteps(context, throughSlots, throughSlots)],
};

/** The same, written straight into the partner's output; the connections then carry flags only. */
export const directRecursiveDoublingAllGather: Builder = {
  inPlace: true,
  outOfPlace: true,
  usesDirect: true,
  steps: (context) => [
    allGatherSteps(
      context,
      (end, place) => ({ ...end, remote: place }),
      (end, place) => ({ ...end, landing: place }),
    ),
  ],
};

const throughSlots = <End>(end: End): End => end;

function allGatherSteps(
  { rank, rankCount, laneCount, chunk, to }: LaneContext,
  sending: (end: SendEnd, place: LocalChunk) => SendEnd,
  receiving: (end: RecvEnd, place: LocalChunk) => RecvEnd,
): readonly Step[] {
  const { player, playerCount, companion, rankOf } = roleOf(rank, rankCount);
  const segment = (first: number) => output(chunk(0, first));
  // A lane's shares of neighbouring segments lie together only where there is no other lane.
  const messages = ([first, count]: Range): readonly Range[] =>
    laneCount === 1 ? [[first, count]] : Array.from({ length: count }, (_, i) => [first + i, 1] as const);
  const sendRange = (range: Range, peer: number): Step[] =>
    messages(range).map(([first, count]) => send(segment(first), sending(to(peer), segment(first)), count));
  const recvRange = (range: Range, peer: number): Step[] =>
    messages(range).map(([first, count]) => recv(segment(first), receiving(to(peer), segment(first)), count));
  const steps: Step[] = [copy(segment(rank), input(chunk(0)))];
  if (player === undefined) {
    const host = companion ?? 0;
    return [...steps, ...sendRange([rank, 1], host), ...rangesWithout(rank, rankCount).flatMap((range) => recvRange(range, host))];
  }
  if (companion !== undefined) steps.push(...recvRange([companion, 1], companion));
  const rangeOf = (other: number, distance: number): Range => {
    const first = other - (other % distance);
    return [rankOf(first), rankOf(first + distance) - rankOf(first)];
  };
  for (let distance = 1; distance < playerCount; distance *= 2) {
    const partner = player ^ distance;
    const sends = sendRange(rangeOf(player, distance), rankOf(partner));
    const receives = recvRange(rangeOf(partner, distance), rankOf(partner));
    // By turns, so that no connection has to hold more than a message or two.
    for (let i = 0; i < Math.max(sends.length, receives.length); ++i) steps.push(...sends.slice(i, i + 1), ...receives.slice(i, i + 1));
  }
  if (companion !== undefined) steps.push(...rangesWithout(companion, rankCount).flatMap((range) => sendRange(range, companion)));
  return steps;
}

/** Neighbouring segments. */
type Range = readonly [first: number, count: number];

/** All segments but one, as ranges. */
function rangesWithout(left: number, rankCount: number): Range[] {
  const ranges = [
    [0, left],
    [left + 1, rankCount - left - 1],
  ] as const;
  return ranges.filter(([, count]) => count > 0);
}
