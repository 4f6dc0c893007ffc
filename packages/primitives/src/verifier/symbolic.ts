import { isExchange } from "../exchange.js";
import { opShapeOf } from "../op.js";
import { bufferChunks, type ChunkRef, type Program, type Step } from "../program.js";
import { BadFinishError, formatChunk, MisplacedChunkError, OverwrittenInputError, UninitialisedReadError } from "../program-errors.js";
import type { StepGraph, StepNode } from "./graph.js";
import { MemoryMap, type Mode } from "./memory.js";
import { positionOf } from "./messages.js";
import { operandCount } from "./operands.js";
import { type Value, ValueFactory } from "./value.js";

/** Decides whether the result of a reducing step is finished. `isComplete`: every chunk of it is a complete reduction. */
export type FinishRule = (node: number, isComplete: boolean) => boolean;

interface Cell {
  readonly value: Value;
  readonly writer: number;
}

/**
 * Executes a program on multisets in place of numbers. One order of execution speaks for all of them, provided that the
 * program is free of races.
 *
 * Whoever reads a rank's `input` applies that rank's scalar (scaled-sum), so every value in the program is scaled exactly
 * once if nobody reads `input` again after, in place, the program has written there: {@link OverwrittenInputError}.
 */
export class SymbolicExecution {
  readonly values: ValueFactory;
  readonly memory: MemoryMap;
  private readonly cells = new Map<number, Cell>();
  /** By sending node: the values in the slot, or nothing where they were written directly. */
  private readonly inFlight = new Map<number, readonly Value[]>();
  private readonly exchanges: boolean;

  constructor(
    private readonly program: Program,
    private readonly graph: StepGraph,
    private readonly mode: Mode,
    private readonly finishRule: FinishRule,
  ) {
    const termsPerRank = Math.max(1, program.inputSegments * program.chunksPerSegment);
    this.values = new ValueFactory(program.ranks.length, termsPerRank, program.chunksPerSegment);
    this.memory = new MemoryMap(program, mode);
    this.exchanges = isExchange(program);
  }

  /** @param order - every node after all that it waits for. */
  run(order: Int32Array): this {
    for (const index of order) {
      const node = this.graph.nodes[index];
      if (node !== undefined && node.content.op !== "nop" && node.content.count > 0) this.execute(index, node);
    }
    return this;
  }

  /** What an output chunk holds now. In place, an output that was never written still holds the raw input. */
  output(rank: number, chunk: number): { readonly value: Value; readonly writer?: number } | undefined {
    const cell = this.cells.get(this.memory.cellOf({ rank, buffer: "output", chunk }));
    if (cell !== undefined) return cell;
    const input = this.memory.inputUnderOutput(rank, chunk);
    if (input === undefined || input >= bufferChunks(this.program, rank, "input")) return undefined;
    return { value: this.values.input(rank, input) };
  }

  private execute(index: number, node: StepNode): void {
    const { content: step, rank } = node;
    const result = this.finished(index, node, this.result(index, node));
    if (step.dst !== undefined) this.write(index, { rank, ...step.dst }, result);
    for (const destination of step.destinations ?? []) this.write(index, destination, result);
    if (step.send === undefined || !opShapeOf(step.op).sends) return;
    if (step.send.remote === undefined) this.inFlight.set(index, result);
    else this.write(index, { rank: step.send.peer, ...step.send.remote }, result);
  }

  /** The value of each of the step's chunks. */
  private result(index: number, node: StepNode): Value[] {
    const { content: step, rank } = node;
    const received = step.recv === undefined ? undefined : this.receive(index, node);
    return Array.from({ length: step.count }, (_, chunk) => {
      const read = (ref: ChunkRef): Value => this.read(node, { ...ref, chunk: ref.chunk + chunk });
      const operands: Value[] = (step.sources ?? []).map(read);
      if (step.op === "reduce" && step.dst !== undefined) operands.push(read({ rank, ...step.dst }));
      if (step.src !== undefined) operands.push(read({ rank, ...step.src }));
      const arrived = received?.[chunk];
      if (arrived !== undefined) operands.push(arrived);
      if (operands.length > 1 && operands.some(({ finished }) => finished)) {
        throw new BadFinishError(positionOf(node), "it reduces a value that was finished before.");
      }
      return this.values.combine(operands);
    });
  }

  private receive(index: number, node: StepNode): readonly Value[] | undefined {
    const { content: step, rank } = node;
    const landing = step.recv?.landing;
    if (landing !== undefined) {
      return Array.from({ length: step.count }, (_, chunk) =>
        this.read(node, { rank, buffer: landing.buffer, chunk: landing.chunk + chunk }),
      );
    }
    const sender = this.graph.messageOf[index] ?? -1;
    const values = this.inFlight.get(sender);
    this.inFlight.delete(sender);
    return values;
  }

  private finished(index: number, node: StepNode, result: Value[]): Value[] {
    if (operandCount(node.content) < 2) return result;
    const incomplete = result.find((value) => this.values.completeChunk(value) === undefined);
    if (!this.finishRule(index, incomplete === undefined)) return result;
    if (incomplete !== undefined) {
      const holds = this.values.describe(incomplete);
      throw new BadFinishError(positionOf(node), `it finishes ${holds}, which is no complete reduction.`, { holds });
    }
    return result.map((value) => this.values.finish(value));
  }

  private read(node: StepNode, ref: ChunkRef): Value {
    if (this.exchanges && ref.rank !== node.rank) return this.values.input(ref.rank, ref.chunk);
    const cell = this.cells.get(this.memory.cellOf(ref));
    if (ref.buffer === "input") {
      if (cell === undefined) return this.values.input(ref.rank, ref.chunk);
      const writer = this.graph.nodes[cell.writer] ?? node;
      throw new OverwrittenInputError(positionOf(node), formatChunk(ref.rank, ref), positionOf(writer));
    }
    if (cell !== undefined) return cell.value;
    const isRawInput = ref.buffer === "output" && this.memory.inputUnderOutput(ref.rank, ref.chunk) !== undefined;
    throw new UninitialisedReadError(
      positionOf(node),
      `${formatChunk(ref.rank, ref)}${this.mode === "in place" ? " (in place)" : ""}`,
      isRawInput ? "Name the raw data `input`: only then is it scaled." : "Write the chunk first.",
    );
  }

  private write(writer: number, first: ChunkRef, result: readonly Value[]): void {
    result.forEach((value, offset) => {
      const ref = { ...first, chunk: first.chunk + offset };
      const node = this.graph.nodes[writer];
      const mustFit = ref.buffer === "output" && this.program.collective !== "custom" && node !== undefined;
      if (mustFit && value.position !== ref.chunk % this.program.chunksPerSegment) {
        throw new MisplacedChunkError(positionOf(node), formatChunk(ref.rank, ref), this.values.describe(value));
      }
      this.cells.set(this.memory.cellOf(ref), { value, writer });
    });
  }
}

/** The rule that the program itself states. */
export function finishAsMarked(graph: StepGraph): FinishRule {
  return (node) => isMarked(graph.nodes[node]?.content);
}

function isMarked(step: Step | undefined): boolean {
  return step?.finish === true;
}
