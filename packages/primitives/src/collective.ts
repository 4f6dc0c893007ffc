import { checkNumber } from "./check-number.js";
import { entryAt, lookUp } from "./look-up.js";

/** Collectives, in the order of their codes (`Collective` in native/src/base/types.hpp). */
export const collectives = [
  "all-reduce",
  "all-gather",
  "reduce-scatter",
  "reduce",
  "broadcast",
  "all-to-all",
  "gather",
  "scatter",
  "send-recv",
  "barrier",
  "custom",
] as const;

export type Collective = (typeof collectives)[number];

/** How many segments a buffer has; a segment is the `count` elements that a collective was registered with. */
type Segments = "none" | "one" | "one-per-rank";
/** Who has a buffer. `not-root` is the receiver of send-recv, whose root is the sender. */
type Holder = "all" | "root" | "not-root" | "nobody";

export interface CollectiveShape {
  readonly input: Segments;
  readonly output: Segments;
  readonly inputOn: Holder;
  readonly outputOn: Holder;
  readonly takesRoot: boolean;
  readonly takesOp: boolean;
}

const shapes: Readonly<Record<Exclude<Collective, "custom">, CollectiveShape>> = {
  "all-reduce": shape("one", "one", "all", "all", { takesOp: true }),
  "all-gather": shape("one", "one-per-rank", "all", "all"),
  "reduce-scatter": shape("one-per-rank", "one", "all", "all", { takesOp: true }),
  reduce: shape("one", "one", "all", "root", { takesOp: true, takesRoot: true }),
  broadcast: shape("one", "one", "root", "all", { takesRoot: true }),
  "all-to-all": shape("one-per-rank", "one-per-rank", "all", "all"),
  gather: shape("one", "one-per-rank", "all", "root", { takesRoot: true }),
  scatter: shape("one-per-rank", "one", "root", "all", { takesRoot: true }),
  "send-recv": shape("one", "one", "root", "not-root", { takesRoot: true }),
  barrier: shape("none", "none", "nobody", "nobody"),
};

function shape(
  input: Segments,
  output: Segments,
  inputOn: Holder,
  outputOn: Holder,
  takes: { takesOp?: boolean; takesRoot?: boolean } = {},
): CollectiveShape {
  return { input, output, inputOn, outputOn, takesRoot: takes.takesRoot ?? false, takesOp: takes.takesOp ?? false };
}

export function isCollective(value: unknown): value is Collective {
  return (collectives as readonly unknown[]).includes(value);
}

export function collectiveCode(collective: Collective): number {
  return collectives.indexOf(collective);
}

/** @throws {InvalidArgumentError} for a code that no collective has. */
export function collectiveFromCode(code: number): Collective {
  return entryAt(collectives, "collective code", code);
}

/** Buffers and arguments of a collective. A custom collective has none of its own: its program states them. */
export function collectiveShape(collective: Exclude<Collective, "custom">): CollectiveShape {
  return lookUp(shapes, "collective", collective);
}

/** True where the collective combines values and therefore takes a reduction operator. */
export function takesReduceOp(collective: Collective): boolean {
  return collective !== "custom" && collectiveShape(collective).takesOp;
}

/** True where the collective has a root. send-recv has: the index of the sender. */
export function takesRoot(collective: Collective): boolean {
  return collective !== "custom" && collectiveShape(collective).takesRoot;
}

/** Segments of the input buffer: 0, 1 or the number of ranks. */
export function inputSegmentsOf(collective: Exclude<Collective, "custom">, rankCount: number): number {
  return segmentCount(collectiveShape(collective).input, rankCount);
}

/** Segments of the output buffer: 0, 1 or the number of ranks. */
export function outputSegmentsOf(collective: Exclude<Collective, "custom">, rankCount: number): number {
  return segmentCount(collectiveShape(collective).output, rankCount);
}

/** Whether a rank's input buffer exists and is read. With a root, the others may pass nothing. */
export function hasInput(collective: Collective, rank: number, root: number | undefined): boolean {
  return collective === "custom" || holds(collectiveShape(collective).inputOn, rank, root);
}

/** Whether a rank's output buffer exists and is written. With a root, the others may pass nothing. */
export function hasOutput(collective: Collective, rank: number, root: number | undefined): boolean {
  return collective === "custom" || holds(collectiveShape(collective).outputOn, rank, root);
}

function segmentCount(segments: Segments, rankCount: number): number {
  checkNumber("rankCount", rankCount);
  if (segments === "none") return 0;
  return segments === "one" ? 1 : rankCount;
}

function holds(holder: Holder, rank: number, root: number | undefined): boolean {
  switch (holder) {
    case "all":
      return true;
    case "root":
      return rank === root;
    case "not-root":
      return rank !== root;
    case "nobody":
      return false;
  }
}
