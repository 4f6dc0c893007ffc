import { type CompiledProgram, chunkDagOf, describeInstruction, type Span } from "@dfccl/compiler";
import { type DrawnEdge, type DrawnNode, drawGraph, edgeLegend } from "./draw-graph.js";
import { rankColor, rankLineColor } from "./svg.js";

/** Draws which operation waits for which. @param chunk - only operations that write this chunk, by its index. */
export function drawChunkDag(compiled: CompiledProgram, chunk?: number): string {
  const { operations, edges } = chunkDagOf(compiled);
  const ranks = compiled.program.ranks.length;
  const shown = new Set(operations.flatMap(({ dst }, id) => (chunk === undefined || covers(dst, chunk) ? [id] : [])));
  const nodes = operations.flatMap(({ kind, src, dst }, id): DrawnNode[] =>
    shown.has(id)
      ? [{ id, title: kind, text: `${place(src)} → ${place(dst)}`, fill: rankColor(dst.rank, ranks), line: rankLineColor(dst.rank, ranks) }]
      : [],
  );
  return drawGraph({
    title: `${compiled.name}: chunk DAG`,
    subtitle: `${nodes.length} operations${chunk === undefined ? "" : ` on chunk ${chunk}`}; a box has the colour of the rank that it writes to`,
    nodes,
    edges: edges.filter(({ from, to }) => shown.has(from) && shown.has(to)),
    legend: [edgeLegend.data, edgeLegend.reuse, ...rankLegend(ranks)],
    smaller: smallerThan(chunk),
  });
}

/** Draws the fused instructions, with the messages between ranks. */
export function drawInstructionDag(compiled: CompiledProgram, chunk?: number): string {
  const { fused, replicated } = compiled.stages;
  const ranks = fused.ranks;
  const isShown = (operations: readonly number[]): boolean =>
    chunk === undefined || operations.some((id) => covers(replicated.operations[id]?.dst, chunk));
  const shown = fused.instructions.filter((one) => one !== undefined && isShown(one.operations)).filter((one) => one !== undefined);
  const ids = new Set(shown.map(({ id }) => id));
  const senders = new Map(shown.flatMap(({ id, send }) => (send === undefined ? [] : [[send, id] as const])));
  const edges = shown.flatMap(({ id, recv }): DrawnEdge[] => {
    const sender = recv === undefined ? undefined : senders.get(recv);
    const within = [...(fused.before[id] ?? [])].filter((other) => ids.has(other) && other !== sender);
    return [
      ...within.map((from) => ({ from, to: id, kind: "data" }) as const),
      ...(sender === undefined ? [] : [{ from: sender, to: id, kind: "message" } as const]),
    ];
  });
  const nodes = shown.map((instruction): DrawnNode => {
    const [op = "", ...operands] = describeInstruction(instruction, fused)
      .replace(/ \(message \d+\)/g, "")
      .split(" ");
    const { id, rank } = instruction;
    return { id, title: `${op} · rank ${rank}`, text: operands.join(" "), fill: rankColor(rank, ranks), line: rankLineColor(rank, ranks) };
  });
  return drawGraph({
    title: `${compiled.name}: instruction DAG`,
    subtitle: `${nodes.length} instructions after fusion${chunk === undefined ? "" : `, on chunk ${chunk}`}; a box has the colour of its rank`,
    nodes,
    edges,
    legend: [edgeLegend.message, { ...edgeLegend.data, text: "order within a rank" }, ...rankLegend(ranks)],
    smaller: smallerThan(chunk),
  });
}

const smallerThan = (chunk: number | undefined): string =>
  `${chunk === undefined ? "Draw what writes one chunk, with --chunk 0; take" : "Take"} fewer ranks; or draw the schedule, with --what schedule.`;

function rankLegend(ranks: number) {
  if (ranks > 16) return [];
  return Array.from({ length: ranks }, (_, rank) => ({ text: `rank ${rank}`, color: rankColor(rank, ranks), kind: "box" as const }));
}

/** Whether any operation writes this chunk, of whatever rank and buffer. */
export function writesChunk({ stages }: CompiledProgram, chunk: number): boolean {
  return stages.replicated.operations.some(({ dst }) => covers(dst, chunk));
}

function covers(span: Span | undefined, chunk: number): boolean {
  return span !== undefined && span.index <= chunk && chunk < span.index + span.count;
}

function place({ rank, buffer, index, count }: Span): string {
  return `${rank}:${buffer}[${count === 1 ? index : `${index}..${index + count - 1}`}]`;
}
