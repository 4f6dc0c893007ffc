import {
  type Collective,
  checkList,
  checkOptions,
  type DataType,
  InvalidArgumentError,
  isCollective,
  isDataType,
  isReduceOp,
  type OptionNames,
  type Program,
  type ReduceOp,
  readArgument,
  takesReduceOp,
} from "@dfccl/primitives";
import { checkDefined } from "./operator.js";
import { checkScale } from "./scale.js";

export interface CollectiveOptions {
  /** Names the collective on all its ranks: a whole number below 2^32. */
  readonly id: number;
  readonly collective: Collective;
  readonly dataType: DataType;
  /** Elements of a segment: of the whole buffer for all-reduce, of one rank's share for all-gather and its like. */
  readonly count: number;
  /**
   * Each run brings its count, none above `count`: `collective.run(x, x, { count })`. Ranks that bring different ones get a
   * {@link CountMismatchError}. A large `count` costs nothing, unless the program needs memory of its own for it. On CPUs, where all
   * ranks of the collective are on one machine; not for "barrier" and "custom". Default false.
   */
  readonly countPerRun?: boolean;
  /** Default "sum". Ignored by collectives that don't combine values, such as all-gather. */
  readonly op?: ReduceOp;
  /** Ranks of the world that take part, in the collective's own order. Default: all. */
  readonly ranks?: readonly number[];
  /** Index into `ranks`; default 0. */
  readonly root?: number;
  /** Larger is more urgent on this rank; default 0. Takes effect under a policy that orders by priority. */
  readonly priority?: number;
  /** This rank's scalar for op "scaled-sum", one that values of the data type can be multiplied by: 0.5 of integers is refused. Default 1. */
  readonly scale?: number;
  /**
   * In a world of processes: "allocated" (the default) where every rank's buffers come from `rank.allocate()`, which the other
   * processes reach; "any" for memory of any kind, whose contents then travel through connectors, at some cost. In a world of one
   * process any memory is reached, and "any" only chooses another program.
   */
  readonly buffers?: "allocated" | "any";
  /** A program of the caller's own instead of the one that the selection table chooses. */
  readonly program?: Program;
}

/** Options with every default filled in. */
export type CompleteOptions = Required<Omit<CollectiveOptions, "program">>;

const optionNames: OptionNames<CollectiveOptions> = {
  id: true,
  collective: true,
  dataType: true,
  count: true,
  countPerRun: true,
  op: true,
  ranks: true,
  root: true,
  priority: true,
  scale: true,
  buffers: true,
  program: true,
};

/** @throws {UnknownOptionError}; {InvalidArgumentError} naming the option, its value and what is allowed. */
export function completeOptions(options: CollectiveOptions, rank: number, worldSize: number): CompleteOptions {
  checkOptions("options", options, optionNames, 'an object such as { id: 7, collective: "all-reduce", dataType: "float32", count: 1000 }');
  const { id, collective, dataType, count, countPerRun = false, op = "sum", root = 0, priority = 0, scale = 1 } = options;
  const { buffers = "allocated" } = options;
  const ranks = options.ranks ?? Array.from({ length: worldSize }, (_, number) => number);
  if (!isCollective(collective)) throw new InvalidArgumentError("collective", collective, 'a collective such as "all-reduce"');
  if (!isDataType(dataType)) throw new InvalidArgumentError("dataType", dataType, 'a data type such as "float32"');
  if (!isReduceOp(op)) throw new InvalidArgumentError("op", op, 'a reduction operator such as "sum"');
  checkWhole("id", id, 0xffff_ffff);
  checkWhole("count", count, Number.MAX_SAFE_INTEGER);
  if (typeof countPerRun !== "boolean") throw new InvalidArgumentError("countPerRun", countPerRun, "true or false");
  checkRanks(ranks, rank, worldSize);
  if (collective === "send-recv" && ranks.length !== 2) throw new InvalidArgumentError("ranks", ranks, "exactly two ranks for send-recv");
  checkWhole("root", root, ranks.length - 1);
  if (!Number.isInteger(priority) || Math.abs(priority) > 0x7fff_ffff) {
    throw new InvalidArgumentError("priority", priority, "a whole number of 32 bits");
  }
  if (typeof scale !== "number" || Number.isNaN(scale)) throw new InvalidArgumentError("scale", scale, "a number");
  if (buffers !== "allocated" && buffers !== "any") throw new InvalidArgumentError("buffers", buffers, '"allocated" or "any"');
  const reads = collective === "custom" || takesReduceOp(collective);
  if (reads) checkDefined(op, dataType);
  if (reads && op === "scaled-sum") checkScale(scale, dataType);
  const own = Object.freeze([...ranks]);
  return { id, collective, dataType, count, countPerRun, op: reads ? op : "sum", root, ranks: own, priority, scale, buffers };
}

/** @throws {InvalidArgumentError} */
export function checkRanks(ranks: readonly number[], rank: number, worldSize: number): void {
  checkList("ranks", ranks, "a list of ranks");
  const members = readArgument("ranks", "a list of ranks", () => [...ranks]);
  if (members.length === 0) throw new InvalidArgumentError("ranks", ranks, "a list of ranks");
  for (const member of members) {
    if (!Number.isInteger(member) || member < 0 || member >= worldSize) {
      throw new InvalidArgumentError("ranks", ranks, `ranks from 0 to ${worldSize - 1}`);
    }
  }
  if (new Set(members).size !== members.length) throw new InvalidArgumentError("ranks", ranks, "each rank once");
  if (!members.includes(rank)) throw new InvalidArgumentError("ranks", ranks, `a list with rank ${rank}, which registers`);
}

function checkWhole(name: string, value: number, most: number): void {
  if (!Number.isInteger(value) || value < 0 || value > most) {
    throw new InvalidArgumentError(name, value, `a whole number from 0 to ${most}`);
  }
}
