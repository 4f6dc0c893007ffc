import { type Algorithm, buildersOf, isAlgorithm } from "./builders/algorithms.js";
import type { Builder } from "./builders/builder.js";
import { machinesOf } from "./builders/hierarchical.js";
import { laneContext } from "./builders/lane-context.js";
import { copy, input, output } from "./builders/step-factory.js";
import { checkList } from "./check-kind.js";
import { checkInteger } from "./check-number.js";
import { checkOptions, type OptionNames } from "./check-options.js";
import { type Collective, inputSegmentsOf, takesReduceOp, takesRoot } from "./collective.js";
import { DfcclError, InvalidArgumentError } from "./errors.js";
import { limits } from "./limits.js";
import { lookUp } from "./look-up.js";
import { createProgram, type Program, type Step } from "./program.js";
import { isProtocol, type Protocol } from "./protocol.js";
import { annotateFinish } from "./verifier/annotate-finish.js";

export type BuildableCollective = Exclude<Collective, "custom">;

/** Whether input and output are the same memory; "either" when that is known only at each run. */
export type Placement = boolean | "either";

export interface BuildOptions {
  readonly collective: BuildableCollective;
  readonly algorithm: Algorithm;
  /** Number of ranks, 1 or more; send-recv needs exactly 2. */
  readonly ranks: number;
  /** Default 0. For send-recv: the sender. */
  readonly root?: number | undefined;
  /** Default "simple". */
  readonly protocol?: Protocol | undefined;
  /** How many blocks of a rank work side by side, each on its own share of the data. Default 1. */
  readonly channels?: number | undefined;
  /** Default false. The program may allow more than it is asked for: see its `inPlace` and `outOfPlace`. */
  readonly inPlace?: Placement | undefined;
  /** `[rank]`: its machine, as any number. For `hierarchical`, which needs as many ranks on each. */
  readonly hosts?: readonly number[] | undefined;
  /** Slots of every connection. Default: that of the protocol. */
  readonly slotCount?: number | undefined;
}

const optionNames: OptionNames<BuildOptions> = {
  collective: true,
  algorithm: true,
  ranks: true,
  root: true,
  protocol: true,
  channels: true,
  inPlace: true,
  hosts: true,
  slotCount: true,
};

/** No builder carries out the collective in the way that was asked for. `facts.available` lists what there is. */
export class UnsupportedAlgorithmError extends DfcclError {
  override readonly code = "UNSUPPORTED_ALGORITHM";

  constructor(options: BuildOptions, why: string) {
    super(
      () => `${options.collective} with ${options.algorithm} on ${options.ranks} ranks isn't possible: ${why}.`,
      () => {
        const available = listAlgorithms(options.collective, options.ranks, options.inPlace, options.hosts);
        return { facts: { ...options, available }, remedy: `Choose one of: ${available.join(", ")}.` };
      },
    );
  }
}

/**
 * Builds a program. The same options give the same program, on every machine.
 * @returns a program that doesn't depend on count and type; `finish` is marked, so it serves every reduction operator.
 * @throws {UnknownOptionError}; {InvalidArgumentError} for a rank count, root, channel or slot count out of range.
 * @throws {UnsupportedAlgorithmError} where the algorithm doesn't apply.
 */
export function buildProgram(options: BuildOptions): Program {
  checkOptions("options", options, optionNames, 'an object such as { collective: "all-reduce", algorithm: "ring", ranks: 4 }');
  const { collective, ranks: rankCount } = options;
  const channels = options.channels ?? 1;
  const root = options.root ?? 0;
  checkValues(options, channels, root);
  const builder = chooseBuilder(options, channels);
  const program =
    rankCount === 1 && collective !== "barrier" ? copyProgram(options, channels) : builderProgram(options, builder, channels, root);
  return takesReduceOp(collective) ? annotateFinish(program) : program;
}

/**
 * Algorithms that can carry out a collective on this many ranks.
 * @param hosts - `[rank]`: its machine; leave out where all are on one.
 * @throws {InvalidArgumentError} for a collective that there isn't, or what are no ranks or hosts.
 */
export function listAlgorithms(
  collective: BuildableCollective,
  ranks: number,
  inPlace: Placement = false,
  hosts?: readonly number[],
): Algorithm[] {
  const builders = lookUp(buildersOf, "collective", collective);
  checkInteger("ranks", ranks, 1);
  if (hosts !== undefined) checkHosts(hosts);
  if (collective === "send-recv" && ranks !== 2) return [];
  return Object.entries(builders).flatMap(([algorithm, forms]) =>
    isAlgorithm(algorithm) && forms.some((builder) => allows(builder, ranks, inPlace, hosts)) ? [algorithm] : [],
  );
}

/** True if the algorithm reads or writes peers' buffers, so that the ranks must share memory. */
export function needsSharedMemory(collective: BuildableCollective, algorithm: Algorithm): boolean {
  const builders = lookUp(buildersOf, "collective", collective);
  return isAlgorithm(algorithm) && (builders[algorithm]?.some((builder) => builder.usesDirect === true) ?? false);
}

function allows(builder: Builder, ranks: number, inPlace: Placement, hosts: readonly number[] | undefined): boolean {
  if (builder.needsHosts === true && (hosts?.length !== ranks || machinesOf(hosts) === undefined)) return false;
  const fitsPlacement = (inPlace === false || builder.inPlace) && (inPlace === true || builder.outOfPlace);
  return fitsPlacement && ranks <= (builder.maxRanks ?? Infinity);
}

function chooseBuilder(options: BuildOptions, channels: number): Builder {
  const builders = buildersOf[options.collective][options.algorithm];
  if (builders === undefined) throw new UnsupportedAlgorithmError(options, "the algorithm doesn't apply to it");
  const builder = builders.find((candidate) => allows(candidate, options.ranks, options.inPlace ?? false, options.hosts));
  if (builder === undefined)
    throw new UnsupportedAlgorithmError(options, "no form of it is for so many ranks, for this placement or for these machines");
  if (channels > (builder.maxChannels ?? Infinity)) {
    throw new UnsupportedAlgorithmError(options, `it can't be cut into more than ${builder.maxChannels} channels`);
  }
  return builder;
}

function builderProgram(options: BuildOptions, builder: Builder, channels: number, root: number): Program {
  const rankCount = options.ranks;
  const chunksPerLane = builder.chunksPerLane?.(rankCount) ?? 1;
  const connectionsPerLane = builder.connectionsPerLane ?? 1;
  const ranks = Array.from({ length: rankCount }, (_, rank) => {
    const scratchPerLane = builder.scratchPerLane?.({ rank, rankCount, root }) ?? 0;
    const place = { rank, rankCount, root, hosts: options.hosts, laneCount: channels, chunksPerLane, connectionsPerLane, scratchPerLane };
    const blocks: (readonly Step[])[] = [];
    for (let lane = 0; lane < channels; lane += 1) {
      blocks.push(...builder.steps(laneContext({ ...place, lane, firstBlock: blocks.length })));
    }
    return { blocks, scratchChunks: channels * scratchPerLane };
  });
  return createProgram({
    collective: options.collective,
    root: takesRoot(options.collective) ? root : undefined,
    protocol: options.protocol,
    chunksPerSegment: channels * chunksPerLane,
    slotCount: options.slotCount,
    inPlace: builder.inPlace,
    outOfPlace: builder.outOfPlace,
    usesDirect: builder.usesDirect,
    stepByStep: builder.stepByStep,
    ranks,
  });
}

/** With one rank, every collective copies its input to its output, whatever the algorithm. */
function copyProgram(options: BuildOptions, channels: number): Program {
  const segments = inputSegmentsOf(options.collective, 1);
  const blocks = Array.from({ length: channels }, (_, lane) => [copy(output(lane), input(lane), segments)]);
  return createProgram({
    collective: options.collective,
    root: 0,
    protocol: options.protocol,
    chunksPerSegment: channels,
    slotCount: options.slotCount,
    inPlace: true,
    outOfPlace: true,
    ranks: [{ blocks }],
  });
}

function checkHosts(hosts: readonly number[]): void {
  checkList("hosts", hosts, "a list with the machine of each rank, such as [0, 0, 1, 1]");
}

function checkValues(options: BuildOptions, channels: number, root: number): void {
  const { collective, algorithm, ranks, protocol, slotCount } = options;
  lookUp(buildersOf, "collective", collective);
  if (!isAlgorithm(algorithm)) throw new InvalidArgumentError("algorithm", algorithm, "an algorithm of listAlgorithms");
  if (protocol !== undefined && !isProtocol(protocol)) throw new InvalidArgumentError("protocol", protocol, "a protocol");
  checkInteger("ranks", ranks, 1, 4096);
  if (collective === "send-recv") checkInteger("ranks of send-recv", ranks, 2, 2);
  if (options.root !== undefined && !takesRoot(collective)) {
    throw new InvalidArgumentError("root", root, `none: ${collective} has no root`);
  }
  checkInteger("root", root, 0, ranks - 1);
  checkInteger("channels", channels, 1, 256);
  if (slotCount !== undefined) checkInteger("slotCount", slotCount, 1, limits.slots);
  if (options.hosts !== undefined) checkHosts(options.hosts);
}
