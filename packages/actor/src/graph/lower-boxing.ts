import type { Kernel } from "../actors/plan.js";
import type { Register } from "../actors/register.js";
import type { Boxing, BoxingStep, CollectiveStep, CopyStep } from "../boxing/boxing.js";
import { collectiveLengths, copiesTo, copyInto, packForCollective, unpackFromCollective } from "../boxing/local-boxing.js";
import type { CollectiveLibrary } from "./collectives.js";
import { type PlanBuilder, streams } from "./plan-builder.js";

/** Registers that hold a tensor, by rank. */
export type RankRegisters = ReadonlyMap<number, number>;

export interface BoxingContext {
  readonly builder: PlanBuilder;
  readonly collectives: CollectiveLibrary;
  /** A new id for each collective. */
  readonly nextId: () => number;
  readonly name: string;
  /** Acts of a whole run, for tasks that have no input to tell them. */
  readonly records: number;
  /** Registers where the boxing ends. */
  readonly arrival: number;
  readonly priority: number;
}

/** Adds the tasks of a boxing to a plan. @returns where its result lies. */
export function lowerBoxing({ steps }: Boxing, source: RankRegisters, context: BoxingContext): RankRegisters {
  return steps.reduce((registers, step, index) => {
    const count = index === steps.length - 1 ? context.arrival : 1;
    return step.kind === "copies" ? lowerCopies(step, registers, context, count) : lowerCollective(step, registers, context, count);
  }, source);
}

function lowerCopies(step: CopyStep, source: RankRegisters, context: BoxingContext, count: number): RankRegisters {
  const { builder, name, records } = context;
  const result = new Map<number, number>();
  for (const rank of step.to.placement.ranks) {
    const fromRanks = [...new Set(copiesTo(step, rank).map(({ fromRank }) => fromRank))];
    const inputs = fromRanks.map((fromRank) => registerOf(source, fromRank));
    const kernel: Kernel = (act, done) => {
      copyInto(step, rank, (fromRank) => dataOf(act.inputs, fromRanks.indexOf(fromRank)), dataOf(act.outputs, 0));
      done();
    };
    const isLocal = fromRanks.every((fromRank) => fromRank === rank);
    const task = { rank, stream: isLocal ? streams.compute : streams.copy, name: `copies of ${name}`, inputs, kernel };
    const output = { elements: collectiveLengths(step, rank).recv, count };
    result.set(rank, builder.add({ ...task, output, ...(inputs.length === 0 ? { records } : {}) }).register);
  }
  return result;
}

function lowerCollective(step: CollectiveStep, source: RankRegisters, context: BoxingContext, count: number): RankRegisters {
  const result = new Map<number, number>();
  for (const ranks of step.groups) {
    const id = context.nextId();
    for (const rank of ranks) {
      const register = lowerMember(step, rank, ranks, id, source, context, count);
      if (register !== undefined) result.set(rank, register);
    }
  }
  return result;
}

/** One rank's part of a collective: pack, submit, unpack. */
function lowerMember(
  step: CollectiveStep,
  rank: number,
  ranks: readonly number[],
  id: number,
  source: RankRegisters,
  { builder, collectives, name, records, priority }: BoxingContext,
  count: number,
): number | undefined {
  const { send, recv } = collectiveLengths(step, rank);
  let input = source.get(rank);
  const compute = (
    what: string,
    from: number,
    elements: number,
    registers: number,
    work: (data: Float32Array, output: Float32Array) => void,
  ): number =>
    builder.add({
      rank,
      stream: streams.compute,
      name: `${what} of ${name}`,
      inputs: [from],
      output: { elements, count: registers },
      kernel: (act, done) => {
        work(dataOf(act.inputs, 0), dataOf(act.outputs, 0));
        done();
      },
    }).register;
  if (step.isPacked && input !== undefined) {
    input = compute("pack", input, send, 1, (data, packed) => packForCollective(step, rank, data, packed));
  }
  const run = collectives.open(rank, {
    id,
    collective: step.collective,
    ranks,
    count: segmentOf(step, send, recv, ranks.length),
    priority,
  });
  const hasOutput = step.to.placement.ranks.includes(rank);
  const { register } = builder.add({
    rank,
    stream: streams.collective,
    name: `${step.collective} of ${name}`,
    inputs: input === undefined ? [] : [input],
    ...(hasOutput ? { output: { elements: recv, count: step.isUnpacked ? 1 : count } } : {}),
    ...(input === undefined ? { records } : {}),
    isAsynchronous: true,
    kernel: (act, done) => run(act.inputs[0]?.data, act.outputs[0]?.data, done),
  });
  if (!hasOutput) return undefined;
  if (!step.isUnpacked) return register;
  return compute("unpack", register, recv, count, (packed, data) => unpackFromCollective(step, rank, packed, data));
}

/** What the library calls the count of a collective. */
function segmentOf({ collective }: BoxingStep & { kind: "collective" }, send: number, recv: number, ranks: number): number {
  if (collective === "all-gather") return send;
  if (collective === "all-to-all") return send / ranks;
  return collective === "reduce" ? send : recv;
}

function registerOf(registers: RankRegisters, rank: number): number {
  return registers.get(rank) ?? -1;
}

function dataOf(registers: readonly Register[], position: number): Float32Array {
  return registers[position]?.data ?? new Float32Array(0);
}
