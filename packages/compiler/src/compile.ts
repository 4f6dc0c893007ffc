import {
  annotateFinish,
  type BufferKind,
  checkInteger,
  checkOptions,
  checkText,
  InvalidArgumentError,
  isExchange,
  isProtocol,
  ProgramError,
  programLimits,
  protocolFactsOf,
  protocols,
  takesReduceOp,
  verifyProgram,
} from "@dfccl/primitives";
import { checkCompiled } from "./check-compiled.js";
import type { CompiledProgram, Stages } from "./compiled-program.js";
import { checkBody } from "./language/check-body.js";
import { type DirectForm, isProgramDefinition, type ProgramDefinition } from "./language/define-program.js";
import { NotDirectError } from "./language/errors.js";
import { checkSignature } from "./language/signature.js";
import { traceProgram } from "./language/trace-program.js";
import { absorbReceives } from "./passes/absorb-receives.js";
import { assignBlocks } from "./passes/assign-blocks.js";
import { assignChannels, defaultChannelLimit } from "./passes/assign-channels.js";
import { buildChunkDag, type ChunkDag } from "./passes/chunk-dag.js";
import { type DirectGraph, directAccesses } from "./passes/direct-accesses.js";
import { directPhases } from "./passes/direct-phases.js";
import { emit } from "./passes/emit.js";
import { type FusedGraph, type FusedPair, fuse, unfused } from "./passes/fuse.js";
import { generateInstructions } from "./passes/generate-instructions.js";
import type { InstructionGraph } from "./passes/instruction-graph.js";
import { mergeReductions } from "./passes/merge-reductions.js";
import { type ReplicatedTrace, replicate } from "./passes/replicate.js";
import { schedule } from "./passes/schedule.js";
import { synchronize } from "./passes/synchronize.js";

export interface CompileOptions {
  /** Most channels that the compiler itself spreads fused chains over. Default 32. */
  readonly channelLimit?: number;
}

/**
 * Compiles a program of the language and proves the result: the same definition always gives the same program.
 * @throws {LanguageError} at the line of the definition that is wrong.
 * @throws {InvalidArgumentError} for an option out of range; UnknownOptionError.
 * @see GC3, sections 4 and 5
 */
export function compile<W extends BufferKind>(definition: ProgramDefinition<W>, options: CompileOptions = {}): CompiledProgram {
  if (!isProgramDefinition(definition)) throw new InvalidArgumentError("definition", definition, "what defineProgram() returns");
  checkSignature(definition.collective);
  checkBody("definition.body", definition.body);
  checkOptions("options", options, { channelLimit: true }, "an object such as { channelLimit: 8 }");
  if (definition.name !== undefined) checkText("definition.name", definition.name, "a name");
  const { name = definition.collective.name, protocol = "simple", instances = 1, replication = "interleaved" } = definition;
  if (!isProtocol(protocol)) throw new InvalidArgumentError("protocol", protocol, `one of ${protocols.join(", ")}`);
  const slotCount = definition.slotCount ?? protocolFactsOf(protocol).slotCount;
  checkInteger("slotCount", slotCount, 1, programLimits.slots);
  checkInteger("instances", instances, 1, 256);
  const channelLimit = options.channelLimit ?? defaultChannelLimit;
  checkInteger("channelLimit", channelLimit, 1, 256);

  const trace = traceProgram(definition);
  const replicated = replicate(trace, { instances, replication });
  const instructions = generateInstructions(replicated);
  const direct = directGraph(definition.direct ?? false, instructions, replicated);
  const lowered = direct === undefined ? lower(instructions, slotCount, channelLimit) : lowerDirect(direct, slotCount);
  const awaits = synchronize(lowered.fused, lowered.order, lowered.placements);
  const { signature } = replicated;
  const { scratchChunks } = direct ?? replicated;
  const emitted = emit({
    signature,
    scratchChunks,
    protocol,
    slotCount,
    stepByStep: definition.direct === "in phases",
    graph: lowered.fused,
    awaits,
    ...lowered,
  });
  const [overwrite] = direct?.overwrites ?? [];
  if (overwrite !== undefined && !isExchange(emitted)) throw overwrite;
  // A standard collective is held to the verifier's own idea of it, not to the one that the tracer used.
  const proof = signature.collective === "custom" ? { postcondition: signature.postcondition } : {};
  const prove = () => {
    const program = takesReduceOp(signature.collective) ? annotateFinish(emitted) : emitted;
    return { program, report: verifyProgram(program, proof) };
  };
  const { program, report } = direct === undefined ? prove() : provenOr(prove, (error) => new NotDirectError(name, error.message, error));
  return {
    name,
    program,
    postcondition: signature.postcondition,
    report,
    stages: { trace, replicated, instructions, ...lowered },
  };
}

/** The chunk DAG of a compiled program; only looking at it needs one. */
export function chunkDagOf(compiled: CompiledProgram): ChunkDag {
  checkCompiled(compiled);
  return buildChunkDag(compiled.stages.replicated);
}

/** Undefined where there are to be messages. */
function directGraph(form: DirectForm, instructions: InstructionGraph, replicated: ReplicatedTrace): DirectGraph | undefined {
  if (form === false) return undefined;
  const direct = directAccesses(mergeReductions(instructions), replicated);
  return form === "in phases" ? directPhases(direct, replicated) : direct;
}

/** Messages order what accesses alone leave to chance; of programs that need that, this is said. */
function provenOr<T>(prove: () => T, refusal: (error: ProgramError) => Error): T {
  try {
    return prove();
  } catch (error) {
    throw error instanceof ProgramError ? refusal(error) : error;
  }
}

type Lowered = Omit<Stages, "trace" | "replicated" | "instructions">;

/**
 * Simplifies, fuses and schedules. Where the order of messages on a connection, or its slots, would make a circle of waits,
 * the fused instructions in it are taken apart. Where that isn't enough, every receive stays where the program says it: with
 * one message in flight at a time, program order is always possible.
 */
function lower(instructions: InstructionGraph, slotCount: number, channelLimit: number): Lowered {
  const simplified = mergeReductions(absorbReceives(instructions));
  const keptApart = new Set<FusedPair>();
  for (;;) {
    const fused = fuse(simplified, keptApart);
    const { channels, apart } = assignChannels(fused, channelLimit);
    let pairs: readonly FusedPair[] = apart;
    if (apart.length === 0) {
      const blocks = assignBlocks(fused, channels);
      const scheduled = schedule(fused, channels, blocks, { slotCount, order: "depth" });
      if (scheduled.ok) return { simplified, fused, channels, blocks, ...scheduled, keptApart: [...keptApart] };
      pairs = pairsAmong(fused, scheduled.stuck);
      if (pairs.length === 0) pairs = pairsAmong(fused);
      if (pairs.length === 0) return lowerInOrder(instructions, slotCount, [...keptApart]);
    }
    for (const pair of pairs) keptApart.add(pair);
  }
}

function lowerDirect({ graph, blocks }: DirectGraph, slotCount: number): Lowered {
  const scheduled = schedule(graph, [], blocks, { slotCount, order: "depth" });
  if (!scheduled.ok) throw new Error("without connections nothing can be stuck: a fault of the compiler");
  return { simplified: graph, fused: unfused(graph), channels: [], blocks, ...scheduled, keptApart: [] };
}

function lowerInOrder(instructions: InstructionGraph, slotCount: number, keptApart: readonly FusedPair[]): Lowered {
  const simplified = mergeReductions(instructions);
  const fused = unfused(simplified);
  const { channels } = assignChannels(fused);
  const blocks = assignBlocks(fused, channels);
  const scheduled = schedule(fused, channels, blocks, { slotCount, order: "program" });
  if (!scheduled.ok) throw new Error("the program's own order can't be scheduled: a fault of the compiler");
  return { simplified, fused, channels, blocks, ...scheduled, keptApart };
}

function pairsAmong(fused: FusedGraph, among?: readonly number[]): FusedPair[] {
  const wanted = among === undefined ? fused.instructions : among.map((id) => fused.instructions[id]);
  return wanted.flatMap((instruction) => {
    const [receive, send] = instruction?.fusedFrom ?? [];
    return receive === undefined || send === undefined ? [] : [`${receive} ${send}` as const];
  });
}
