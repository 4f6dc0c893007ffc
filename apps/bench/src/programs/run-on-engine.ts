import type { CompiledProgram } from "@dfccl/compiler";
import { openWorld, type Rank, type RegisteredCollective, type World } from "@dfccl/core";
import { bufferChunks, type Postcondition, type Program, postconditionOf } from "@dfccl/primitives";
import { Random } from "../disorder/random.js";

/** A program as it is registered and checked: compiled from the language or read from a file. */
export type RunnableProgram = Pick<CompiledProgram, "name" | "program" | "postcondition">;

export interface RunOptions {
  /** Elements of a segment; a custom collective wants a multiple of its chunks. */
  readonly count: number;
  readonly inPlace: boolean;
  readonly iterations: number;
  /** Device synchronizations between submissions, at random. */
  readonly synchronize: boolean;
  readonly seed: number;
}

export interface Difference {
  readonly program: string;
  readonly rank: number;
  readonly element: number;
  readonly got: number;
  readonly expected: number;
}

/** Buffers of one rank for one program. */
interface Buffers {
  readonly send: Float32Array;
  readonly recv: Float32Array;
}

/**
 * Runs programs on the engine, all registered at once. In every iteration each rank submits all of them in an order of its
 * own; afterwards every output is compared with what its collective promises, bit by bit.
 * @returns the first difference of each iteration; none if all is right.
 */
export async function runOnEngine(programs: readonly RunnableProgram[], options: RunOptions): Promise<Difference[]> {
  const ranks = Math.max(1, ...programs.map(({ program }) => program.ranks.length));
  using world = openWorld({ ranks });
  return await runInWorld(world, programs, options);
}

async function runInWorld(world: World, programs: readonly RunnableProgram[], options: RunOptions): Promise<Difference[]> {
  const cases = programs.map((runnable, id) => new Case(runnable, id, options));
  const random = new Random(options.seed);
  const differences: Difference[] = [];
  const registered = world.ranks.map((rank) =>
    cases.flatMap((one) => (rank.number < one.ranks ? [{ one, collective: one.register(rank) }] : [])),
  );
  for (let iteration = 0; iteration < options.iterations; iteration += 1) {
    const buffers = cases.map((one) => one.fill(iteration));
    await Promise.all(
      world.ranks.map(async (rank) => {
        const runs: PromiseLike<unknown>[] = [];
        for (const { one, collective } of random.shuffle([...(registered[rank.number] ?? [])])) {
          const own = buffers[one.id]?.[rank.number];
          if (own !== undefined) runs.push(rank.submit([[collective, own.send, own.recv]]));
          if (options.synchronize && random.fraction() < 0.2) await rank.synchronize();
        }
        await Promise.all(runs);
      }),
    );
    for (const one of cases) differences.push(...one.compare(iteration, buffers[one.id] ?? []));
  }
  return differences;
}

class Case {
  readonly ranks: number;
  private readonly program: Program;
  private readonly expected: Postcondition;
  /** Elements over which the postcondition speaks as one. */
  private readonly unit: number;

  constructor(
    private readonly runnable: RunnableProgram,
    readonly id: number,
    private readonly options: RunOptions,
  ) {
    const { program, postcondition } = runnable;
    this.program = program;
    this.ranks = program.ranks.length;
    const isCustom = program.collective === "custom";
    this.unit = isCustom ? options.count / program.chunksPerSegment : options.count;
    this.expected = isCustom ? postcondition : postconditionOf({ ...program, chunksPerSegment: 1 });
  }

  register(rank: Rank): RegisteredCollective {
    const { program } = this;
    const ranks = program.ranks.map((_, number) => number);
    const root = program.root === undefined ? {} : { root: program.root };
    return rank.register({
      id: this.id,
      collective: program.collective,
      dataType: "float32",
      count: this.options.count,
      ranks,
      program,
      ...root,
    });
  }

  fill(iteration: number): Buffers[] {
    const { program } = this;
    const { count } = this.options;
    return program.ranks.map((_, rank) => {
      const elements = (buffer: "input" | "output"): number => (bufferChunks(program, rank, buffer) / program.chunksPerSegment) * count;
      const sizes = { input: elements("input"), output: elements("output") };
      const whole = new Float32Array(Math.max(sizes.input, sizes.output));
      const part = (size: number): Float32Array => whole.subarray(size === whole.length ? 0 : rank * count).subarray(0, size);
      const send = this.options.inPlace ? part(sizes.input) : new Float32Array(sizes.input);
      const recv = this.options.inPlace ? part(sizes.output) : new Float32Array(sizes.output);
      for (let i = 0; i < send.length; i += 1) send[i] = elementAt(iteration, rank, i);
      return { send, recv };
    });
  }

  compare(iteration: number, buffers: readonly Buffers[]): Difference[] {
    for (const [rank, { recv }] of buffers.entries()) {
      for (let first = 0; first < recv.length; first += this.unit) {
        const terms = this.expected(rank, first / this.unit);
        for (let offset = 0; terms !== undefined && offset < this.unit; offset += 1) {
          let expected = 0;
          for (const term of terms) expected += elementAt(iteration, term.rank, term.chunk * this.unit + offset);
          const got = recv[first + offset] ?? Number.NaN;
          if (got !== expected) return [{ program: this.runnable.name, rank, element: first + offset, got, expected }];
        }
      }
    }
    return [];
  }
}

/** Whole numbers so small that sums of thousands of them are exact in float32. */
function elementAt(iteration: number, rank: number, element: number): number {
  return (Math.imul(element + 1, 2654435761) ^ Math.imul(rank + 1, 40503) ^ Math.imul(iteration + 1, 69069)) & 1023;
}
