import { bitByBit } from "./bit-by-bit.js";
import { checkList } from "./check-kind.js";
import { checkInteger } from "./check-number.js";
import { checkObject } from "./check-object.js";
import { checkProgram } from "./check-program.js";
import { type ChunkGeometry, chunkCapacity, chunkLength, chunkOffset, scratchOffset, tileCount } from "./chunk-geometry.js";
import { InvalidArgumentError } from "./errors.js";
import { isExchange } from "./exchange.js";
import { inPlaceShift } from "./in-place.js";
import { opShapeOf } from "./op.js";
import type { BufferKind, ChunkRef, Program, Step } from "./program.js";
import { bufferChunks } from "./program.js";
import { BadProgramError, type StepPosition } from "./program-errors.js";
import { SeededRandom } from "./random.js";
import { isReduceOp, type ReduceOp, reduceOps } from "./reduce-op.js";
import { operandCount } from "./verifier/operands.js";

export interface InterpretOptions {
  /** `inputs[rank]`: all segments of its input buffer; ignored for ranks without one. */
  readonly inputs: readonly (readonly number[])[];
  /** Elements of a segment. */
  readonly count: number;
  /** Default "sum". */
  readonly op?: ReduceOp;
  /** scaled-sum: each rank's own scalar. */
  readonly scalars?: readonly number[];
  /** Ranks whose input and output share memory; default: none. */
  readonly inPlace?: readonly boolean[];
  /** Elements of a tile; default: a whole chunk. */
  readonly tileElements?: number;
  /** Decides the schedule; any number. Default 0. */
  readonly seed?: number;
}

export type InterpretResult =
  /** `outputs[rank]` as the rank held it at the moment of its completion; empty for ranks without an output. */
  | { readonly ok: true; readonly outputs: readonly (readonly number[])[]; readonly steps: number }
  /** No step can run any more; `waiting` is the step where each unfinished block stands. */
  | { readonly ok: false; readonly reason: "deadlock"; readonly waiting: readonly StepPosition[] };

/** Elements of all buffers of all ranks together: half a gigabyte. */
const mostElements = 1 << 26;

/**
 * Executes a program on real numbers for all ranks, one step at a time, in a random order that a real engine could
 * produce: ranks submit at different times, blocks advance independently, connections have exactly `slotCount` slots,
 * and a rank's memory is taken away (filled with NaN) as soon as it has completed. Slow and simple: it defines what a
 * program means, and tests compare against it.
 * @throws {BadProgramError} for what is no program; {InvalidArgumentError} for inputs of other lengths, or more than 2^26 elements in all.
 */
export function interpretProgram(program: Program, options: InterpretOptions): InterpretResult {
  return new Interpreter(program, options).run();
}

function elementsOf({ ranks, inputSegments, outputSegments }: Program, geometry: ChunkGeometry): number {
  const buffers = ranks.length * (inputSegments + outputSegments) * geometry.count;
  return buffers + ranks.reduce((sum, { scratchChunks }) => sum + scratchChunks * chunkCapacity(geometry), 0);
}

interface BlockState {
  readonly rank: number;
  readonly block: number;
  readonly steps: readonly Step[];
  tile: number;
  step: number;
}

class Interpreter {
  private readonly geometry: ChunkGeometry;
  private readonly tileElements: number;
  private readonly tiles: number;
  private readonly random: SeededRandom;
  private readonly memory: readonly Record<BufferKind, Float64Array>[];
  private readonly blocks: BlockState[];
  private readonly slots = new Map<string, (readonly Float64Array[])[]>();
  private readonly submitted: boolean[];
  private readonly outputs: (readonly number[] | undefined)[];
  /** By rank: what an exchange has sent, which is all of the input as it was at submission. */
  private readonly sent: readonly Float64Array[] | undefined;
  private executed = 0;

  constructor(
    private readonly program: Program,
    private readonly options: InterpretOptions,
  ) {
    checkProgram(program);
    checkObject("options", options, "an object such as { inputs: [[1], [2]], count: 1 }");
    const { count, op = "sum" } = options;
    checkInteger("count", count, 0, mostElements);
    checkList("inputs", options.inputs, "a list with the input of each rank");
    if (!isReduceOp(op)) throw new InvalidArgumentError("op", op, `one of ${reduceOps.join(", ")}`);
    for (const list of ["scalars", "inPlace"] as const) {
      if (options[list] !== undefined) checkList(list, options[list], "a list with an entry for each rank");
    }
    this.geometry = { count, chunksPerSegment: program.chunksPerSegment };
    const capacity = Math.max(1, chunkCapacity(this.geometry));
    if (options.tileElements !== undefined) checkInteger("tileElements", options.tileElements, 1);
    this.tileElements = Math.min(capacity, options.tileElements ?? capacity);
    this.tiles = tileCount(this.geometry, this.tileElements);
    this.random = new SeededRandom(options.seed ?? 0);
    checkInteger("elements of all buffers", elementsOf(program, this.geometry), 0, mostElements);
    this.memory = program.ranks.map((_, rank) => this.allocate(rank));
    this.sent = isExchange(program) ? this.memory.map(({ input }) => input.slice()) : undefined;
    this.submitted = program.ranks.map(() => false);
    this.outputs = program.ranks.map(() => undefined);
    this.blocks = program.ranks.flatMap(({ blocks }, rank) =>
      blocks.map(({ steps }, block) => ({ rank, block, steps, tile: steps.length === 0 ? this.tiles : 0, step: 0 })),
    );
  }

  run(): InterpretResult {
    const waitingToSubmit = this.program.ranks.map((_, rank) => rank);
    for (;;) {
      const open = this.blocks.filter((state) => state.tile < this.tiles);
      const ready = open.filter((state) => this.isReady(state));
      const choices = ready.length + waitingToSubmit.length;
      if (choices === 0) {
        if (open.length > 0)
          return { ok: false, reason: "deadlock", waiting: open.map(({ rank, block, step }) => ({ rank, block, step })) };
        return { ok: true, outputs: this.outputs.map((output) => output ?? []), steps: this.executed };
      }
      const choice = this.random.below(choices);
      const state = ready[choice];
      if (state !== undefined) this.execute(state);
      for (const rank of waitingToSubmit.splice(choice - ready.length, state === undefined ? 1 : 0)) this.submitted[rank] = true;
      this.completeRanks();
    }
  }

  private allocate(rank: number): Record<BufferKind, Float64Array> {
    const { program, geometry, options } = this;
    const has = (buffer: BufferKind): boolean => bufferChunks(program, rank, buffer) > 0;
    const sizeOf = (buffer: "input" | "output", segments: number): number => (has(buffer) ? segments * geometry.count : 0);
    const inputSize = sizeOf("input", program.inputSegments);
    const outputSize = sizeOf("output", program.outputSegments);
    const given = options.inputs[rank] ?? [];
    checkList(`inputs[${rank}]`, given, "a list of numbers");
    if (inputSize > 0 && given.length !== inputSize) {
      throw new InvalidArgumentError(`length of the input of rank ${rank}`, given.length, `${inputSize} elements`);
    }
    const scratchChunks = program.ranks[rank]?.scratchChunks ?? 0;
    const scratch = new Float64Array(scratchChunks * chunkCapacity(geometry)).fill(NaN);
    const shift = options.inPlace?.[rank] === true ? inPlaceShift(program, rank) : undefined;
    if (shift === undefined || inputSize === 0 || outputSize === 0) {
      return { input: Float64Array.from(given.slice(0, inputSize)), output: new Float64Array(outputSize).fill(NaN), scratch };
    }
    // Both are views of one memory; whichever is larger is all of it, the other one a segment.
    const elements = (shift / geometry.chunksPerSegment) * geometry.count;
    const whole = new Float64Array(Math.max(inputSize, outputSize)).fill(NaN);
    const input = whole.subarray(Math.max(0, elements), Math.max(0, elements) + inputSize);
    const output = whole.subarray(Math.max(0, -elements), Math.max(0, -elements) + outputSize);
    input.set(given.slice(0, inputSize));
    return { input, output, scratch };
  }

  private isReady({ rank, steps, tile, step: index }: BlockState): boolean {
    const step = steps[index];
    if (step === undefined || this.submitted[rank] !== true) return false;
    const touched = [...(step.sources ?? []), ...(step.destinations ?? [])].map((ref) => ref.rank);
    if (step.send?.remote !== undefined) touched.push(step.send.peer);
    if (touched.some((other) => this.submitted[other] !== true)) return false;
    const hasMessage = step.recv === undefined || this.slotsOf(step.recv.peer, rank, step.recv.channel).length > 0;
    const hasSlot = step.send === undefined || this.slotsOf(rank, step.send.peer, step.send.channel).length < this.program.slotCount;
    const areDone = (step.dependsOn ?? []).every((dependency) => {
      const other = this.blocks.find((state) => state.rank === rank && state.block === dependency.block);
      return other !== undefined && (other.tile > tile || (other.tile === tile && other.step > dependency.step));
    });
    return hasMessage && hasSlot && areDone;
  }

  private execute(state: BlockState): void {
    const { rank, tile, steps } = state;
    const step = steps[state.step];
    if (step === undefined) return;
    const message = step.recv && this.slotsOf(step.recv.peer, rank, step.recv.channel).shift();
    const payload: Float64Array[] = [];
    for (let chunk = 0; chunk < step.count; chunk += 1) payload.push(this.moveChunk(rank, tile, step, chunk, message?.[chunk]));
    if (step.send && opShapeOf(step.op).sends) {
      this.slotsOf(rank, step.send.peer, step.send.channel).push(step.send.remote ? [] : payload);
    }
    this.moveOn(state);
    this.executed += 1;
  }

  /** A block is over when its `tile` is beyond the last one. */
  private moveOn(state: BlockState): void {
    if (this.program.stepByStep) {
      state.tile += 1;
      if (state.tile < this.tiles || state.step === state.steps.length - 1) return;
      state.tile = 0;
      state.step += 1;
      return;
    }
    state.step += 1;
    if (state.step < state.steps.length) return;
    state.step = 0;
    state.tile += 1;
  }

  /**
   * Moves one tile of one chunk: as many elements as the shortest of its operands has. A slot always holds a full tile,
   * the rest of it being garbage, here NaN.
   */
  private moveChunk(rank: number, tile: number, step: Step, chunk: number, message: Float64Array | undefined): Float64Array {
    const read = (ref: ChunkRef): Float64Array => this.scaled(ref, this.view(ref, chunk, tile, ref.rank === rank ? undefined : this.sent));
    const operands = (step.sources ?? []).map(read);
    if (step.op === "reduce" && step.dst) operands.push(read({ rank, ...step.dst }));
    if (step.src) operands.push(read({ rank, ...step.src }));
    if (step.recv?.landing) operands.push(read({ rank, ...step.recv.landing }));
    else if (message) operands.push(message);
    if (operands.length === 0)
      throw new BadProgramError(`A ${step.op} of rank ${rank} has nothing to move.`, "See what verifyProgram() says of it.", {
        rank,
        op: step.op,
      });
    const targets = (step.destinations ?? []).map((ref) => this.view(ref, chunk, tile));
    if (step.dst) targets.push(this.view({ rank, ...step.dst }, chunk, tile));
    if (step.send?.remote) targets.push(this.view({ rank: step.send.peer, ...step.send.remote }, chunk, tile));

    const elements = Math.min(...[...operands, ...targets].map(({ length }) => length));
    const divides = step.finish === true && this.options.op === "avg" && operandCount(step) > 1;
    const slot = new Float64Array(this.tileElements).fill(NaN);
    for (let index = 0; index < elements; index += 1) {
      const reduced = operands.map((operand) => operand[index] ?? NaN).reduce((sum, value) => this.reduce(sum, value));
      slot[index] = divides ? reduced / this.program.ranks.length : reduced;
    }
    for (const target of targets) target.set(slot.subarray(0, elements));
    return slot;
  }

  private scaled({ rank, buffer }: ChunkRef, values: Float64Array): Float64Array {
    if (buffer !== "input" || this.options.op !== "scaled-sum") return values;
    const scalar = this.options.scalars?.[rank] ?? 1;
    return values.map((value) => value * scalar);
  }

  private reduce(a: number, b: number): number {
    if (Number.isNaN(a) || Number.isNaN(b)) return NaN;
    switch (this.options.op ?? "sum") {
      case "sum":
      case "avg":
      case "scaled-sum":
        return a + b;
      case "prod":
        return a * b;
      case "min":
        return Math.min(a, b);
      case "max":
        return Math.max(a, b);
      case "bit-and":
        return bitByBit(a, b, (x, y) => x & y);
      case "bit-or":
        return bitByBit(a, b, (x, y) => x | y);
      case "bit-xor":
        return bitByBit(a, b, (x, y) => x ^ y);
    }
  }

  /** One tile of one chunk, in place in its buffer. */
  private view(first: ChunkRef, offset: number, tile: number, sent?: readonly Float64Array[]): Float64Array {
    const chunk = first.chunk + offset;
    const isScratch = first.buffer === "scratch";
    const start = isScratch ? scratchOffset(this.geometry, chunk) : chunkOffset(this.geometry, chunk);
    const length = isScratch ? chunkCapacity(this.geometry) : chunkLength(this.geometry, chunk);
    const from = Math.min(length, tile * this.tileElements);
    const to = Math.min(length, from + this.tileElements);
    const memory = sent?.[first.rank] ?? this.memory[first.rank]?.[first.buffer];
    return memory?.subarray(start + from, start + to) ?? new Float64Array(0);
  }

  private slotsOf(source: number, destination: number, channel: number): (readonly Float64Array[])[] {
    const key = `${source} ${destination} ${channel}`;
    const slots = this.slots.get(key) ?? [];
    this.slots.set(key, slots);
    return slots;
  }

  /** A rank completes when its blocks have finished; with direct access, when everybody's have. */
  private completeRanks(): void {
    const isFinished = (rank: number): boolean =>
      this.submitted[rank] === true && this.blocks.every((state) => state.rank !== rank || state.tile === this.tiles);
    const finished = this.program.ranks.map((_, rank) => isFinished(rank));
    if (this.program.usesDirect && finished.includes(false)) return;
    finished.forEach((isDone, rank) => {
      const memory = this.memory[rank];
      if (!isDone || this.outputs[rank] !== undefined || memory === undefined) return;
      this.outputs[rank] = Array.from(memory.output);
      memory.input.fill(NaN);
      memory.output.fill(NaN);
      memory.scratch.fill(NaN);
    });
  }
}
