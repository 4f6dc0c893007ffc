import { type ChunkRef, createProgram, type Dependency, type Program, type Protocol, type Step } from "@dfccl/primitives";
import type { Signature } from "../language/signature.js";
import type { BlockAssignment } from "./assign-blocks.js";
import type { Instruction, InstructionGraph } from "./instruction-graph.js";
import type { Placement } from "./schedule.js";

export interface EmitInput {
  readonly signature: Signature;
  readonly scratchChunks: readonly number[];
  readonly protocol: Protocol;
  readonly slotCount: number;
  readonly stepByStep: boolean;
  readonly graph: InstructionGraph;
  readonly channels: readonly number[];
  readonly blocks: BlockAssignment;
  readonly placements: readonly (Placement | undefined)[];
  readonly awaits: readonly (readonly Dependency[])[];
}

/** Writes the scheduled instructions down as a program. `finish` isn't marked yet. */
export function emit(input: EmitInput): Program {
  const { signature, graph, placements } = input;
  const ranks = input.blocks.blocks.map((blocks, rank) => ({
    blocks: blocks.map((): Step[] => []),
    scratchChunks: input.scratchChunks[rank],
  }));
  for (const instruction of graph.instructions) {
    const place = instruction && placements[instruction.id];
    const steps = place && ranks[instruction.rank]?.blocks[place.block];
    if (steps !== undefined) steps[place?.step ?? 0] = stepOf(instruction as Instruction, input);
  }
  return createProgram({
    collective: signature.collective,
    root: signature.root,
    protocol: input.protocol,
    chunksPerSegment: signature.chunksPerSegment,
    inputSegments: signature.inputSegments,
    outputSegments: signature.outputSegments,
    slotCount: input.slotCount,
    stepByStep: input.stepByStep,
    inPlace: signature.inPlace !== false,
    outOfPlace: signature.inPlace !== true,
    ranks,
  });
}

function stepOf(instruction: Instruction, { graph, channels, awaits }: EmitInput): Step {
  const { id, rank, op, count, src, dst, sources, direct } = instruction;
  const sent = graph.messages[instruction.send ?? -1];
  const received = graph.messages[instruction.recv ?? -1];
  const dependsOn = awaits[id] ?? [];
  const here = (chunk: { buffer: ChunkRef["buffer"]; chunk: number }): ChunkRef => ({ rank, ...chunk });
  return {
    op,
    count,
    ...(src && { src }),
    ...(dst && (sources ? { destinations: [here(dst)] } : { dst })),
    ...(sources && { sources: sources.map(here) }),
    ...direct,
    ...(received && { recv: { peer: received.from, channel: channels[received.id] ?? 0 } }),
    ...(sent && { send: { peer: sent.to, channel: channels[sent.id] ?? 0 } }),
    ...(dependsOn.length > 0 && { dependsOn }),
  };
}
