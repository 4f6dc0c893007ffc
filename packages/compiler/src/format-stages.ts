import {
  type ChunkRef,
  checkObject,
  checkProgram,
  InvalidArgumentError,
  type LocalChunk,
  type Program,
  protocolFactsOf,
  type Step,
} from "@dfccl/primitives";
import { checkCompiled, checkGraph } from "./check-compiled.js";
import { chunkDagOf } from "./compile.js";
import type { CompiledProgram } from "./compiled-program.js";
import { formatSpan } from "./language/span.js";
import type { Instruction, InstructionGraph } from "./passes/instruction-graph.js";

/** A stage of compilation in words. */
export interface FormattedStage {
  readonly title: string;
  readonly lines: readonly string[];
}

/** Every stage of a compilation, for people: one operation, instruction or step a line. */
export function formatStages(compiled: CompiledProgram): FormattedStage[] {
  checkCompiled(compiled);
  const { stages } = compiled;
  const { trace, replicated, instructions, simplified, fused, channels, blocks, keptApart } = stages;
  const apart = keptApart.length === 0 ? "" : `, ${keptApart.length} pairs kept apart, whose order would make a circle`;
  return [
    {
      title: `Program: ${trace.operations.length} operations of ${trace.signature.ranks} ranks`,
      lines: trace.operations.map(
        ({ kind, src, dst, channel, parallel }) =>
          `${describeMove(kind, formatSpan(src), formatSpan(dst))}${channel === undefined ? "" : `, channel ${channel}`}${parallel === 1 ? "" : `, in ${parallel} parts`}`,
      ),
    },
    { title: `Chunk DAG: each chunk cut into ${replicated.finerChunks}`, lines: chunkDagLines(compiled) },
    { title: `Instruction DAG: ${count(instructions)} instructions`, lines: graphLines(instructions) },
    {
      title: `Simplified: ${count(simplified)} instructions, without receives and sums that another does on its way`,
      lines: graphLines(simplified),
    },
    { title: `Fused: ${count(fused)} instructions${apart}`, lines: graphLines(fused) },
    {
      title: `Channels: ${fused.messages.length} messages`,
      lines: fused.messages.map(
        ({ id, from, to, part }) => `message ${id}: rank ${from} to rank ${to}, part ${part}, channel ${channels[id]}`,
      ),
    },
    {
      title: "Blocks",
      lines: blocks.blocks.flatMap((list) =>
        list.map(({ rank, index, channel, sendPeer, recvPeer }) => {
          const peers = [
            ...(recvPeer === undefined ? [] : [`receives from ${recvPeer}`]),
            ...(sendPeer === undefined ? [] : [`sends to ${sendPeer}`]),
          ];
          return `rank ${rank} block ${index}: ${peers.length === 0 ? "works alone" : `${peers.join(", ")}, channel ${channel}`}`;
        }),
      ),
    },
    { title: programTitle(compiled.program), lines: programLines(compiled.program) },
  ];
}

/** The steps of every block. */
export function programLines(program: Program): string[] {
  checkProgram(program);
  return program.ranks.flatMap(({ blocks }, rank) =>
    blocks.flatMap(({ steps }, block) => [
      `rank ${rank} block ${block}${steps.length === 0 ? ": nothing to do" : ""}`,
      ...steps.map((step, index) => `  ${String(index).padStart(3)}  ${describeStep(step)}`),
    ]),
  );
}

function programTitle({ protocol, slotCount, chunksPerSegment }: Program): string {
  const usual = protocolFactsOf(protocol).slotCount === slotCount ? "" : " (not the protocol's own)";
  return `Program for the daemon: protocol ${protocol}, ${slotCount} slots${usual}, ${chunksPerSegment} chunks a segment`;
}

function describeMove(kind: string, src: string, dst: string): string {
  return kind === "copy" ? `copy ${src} to ${dst}` : `reduce ${src} into ${dst}`;
}

function chunkDagLines(compiled: CompiledProgram): string[] {
  const { operations, edges } = chunkDagOf(compiled);
  const after: string[][] = operations.map(() => []);
  for (const { from, to, kind } of edges) after[to]?.push(`${kind === "reuse" ? "once free by " : ""}#${from}`);
  return operations.map(({ kind, src, dst }, id) => {
    const waits = after[id] ?? [];
    return `#${id} ${describeMove(kind, formatSpan(src), formatSpan(dst))}${waits.length === 0 ? "" : `, after ${waits.join(", ")}`}`;
  });
}

function count(graph: InstructionGraph): number {
  return graph.instructions.filter((instruction) => instruction !== undefined).length;
}

function graphLines(graph: InstructionGraph): string[] {
  return graph.instructions.flatMap((instruction) => {
    if (instruction === undefined) return [];
    const before = [...(graph.before[instruction.id] ?? [])].sort((a, b) => a - b);
    return [
      `#${instruction.id} rank ${instruction.rank}: ${describeInstruction(instruction, graph)}${before.length === 0 ? "" : `, after #${before.join(", #")}`}`,
    ];
  });
}

/** "recvReduceSend input[2] from 1 (message 4) to 3 (message 5)". */
export function describeInstruction(instruction: Instruction, graph: InstructionGraph): string {
  checkGraph("graph", graph);
  checkObject("instruction", instruction, "one of the graph's");
  if (!graph.instructions.includes(instruction)) throw new InvalidArgumentError("instruction", instruction, "one of the graph's");
  const { op, src, dst, sources, direct, count: chunks, recv, send } = instruction;
  if (direct !== undefined) return `${op} ${describeOperands(direct.sources, direct.destinations, chunks)}`;
  const from = recv === undefined ? "" : ` from ${graph.messages[recv]?.from} (message ${recv})`;
  const to = send === undefined ? "" : ` to ${graph.messages[send]?.to} (message ${send})`;
  return `${op} ${describeOperands(sources ?? (src ? [src] : []), dst ? [dst] : [], chunks)}${from}${to}`;
}

function describeStep({ op, count: chunks, src, dst, sources, destinations, recv, send, dependsOn = [], finish }: Step): string {
  const operands = describeOperands(sources ?? (src ? [src] : []), destinations ?? (dst ? [dst] : []), chunks);
  const from = recv === undefined ? "" : ` from ${recv.peer}`;
  const to = send === undefined ? "" : ` to ${send.peer}`;
  const waits = dependsOn.map(({ block, step }) => `block ${block} step ${step}`).join(", ");
  return `${op} ${operands}${from}${to}${finish ? ", finished" : ""}${waits === "" ? "" : `, after ${waits}`}`;
}

function describeOperands(
  sources: readonly (LocalChunk | ChunkRef)[],
  destinations: readonly (LocalChunk | ChunkRef)[],
  chunks: number,
): string {
  const name = (place: LocalChunk | ChunkRef): string => {
    const { buffer, chunk } = place;
    return `${buffer}[${chunks === 1 ? chunk : `${chunk}..${chunk + chunks - 1}`}]${"rank" in place ? ` of ${place.rank}` : ""}`;
  };
  return [...(sources.length > 0 ? [sources.map(name).join(" + ")] : []), ...destinations.map((chunk) => `→ ${name(chunk)}`)].join(" ");
}
