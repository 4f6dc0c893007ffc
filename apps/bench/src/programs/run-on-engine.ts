import type { CompiledProgram } from "@dfccl/compiler";
import { type Backend, type DeviceBuffer, openWorld, type Rank, type RegisteredCollective, type World } from "@dfccl/core";
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
  /** Default "cpu". */
  readonly backend?: Backend;
  /** Called before each iteration. */
  readonly onIteration?: () => void;
}

export interface Difference {
  readonly program: string;
  readonly rank: number;
  readonly element: number;
  readonly got: number;
  readonly expected: number;
}

/** Buffers of one rank for one program, in memory of any kind. */
interface Buffers<Memory = Float32Array> {
  readonly send: Memory;
  readonly recv: Memory;
}

/**
 * Runs programs on the engine, all registered at once. In every iteration each rank submits all of them in an order of its
 * own; afterwards every output is compared with what its collective promises, bit by bit.
 * @returns the first difference of each iteration; none if all is right.
 */
export async function runOnEngine(programs: readonly RunnableProgram[], options: RunOptions): Promise<Difference[]> {
  const ranks = Math.max(1, ...programs.map(({ program }) => program.ranks.length));
  using world: World<Backend> = openWorld({ ranks, backend: options.backend ?? "cpu" });
  return await runInWorld(world, programs, options);
}

async function runInWorld(world: World<Backend>, programs: readonly RunnableProgram[], options: RunOptions): Promise<Difference[]> {
  const cases = programs.map((runnable, id) => new Case(runnable, id, options));
  const random = new Random(options.seed);
  const differences: Difference[] = [];
  const registered = world.ranks.map((rank) =>
    cases.flatMap((one) => (rank.number < one.ranks ? [{ one, collective: one.register(rank) }] : [])),
  );
  const onDevices = isOnGpus(world) ? cases.map((one) => one.place(world.ranks)) : undefined;
  for (let iteration = 0; iteration < options.iterations; iteration += 1) {
    options.onIteration?.();
    const buffers = cases.map((one) => one.fill(iteration));
    await forEachPlaced(onDevices, buffers, (device, host) => device.send.copyFrom(host.send));
    await Promise.all(
      world.ranks.map(async (rank) => {
        const runs: PromiseLike<unknown>[] = [];
        for (const { one, collective } of random.shuffle([...(registered[rank.number] ?? [])])) {
          const own = (onDevices ?? buffers)[one.id]?.[rank.number];
          if (own !== undefined) runs.push(rank.submit([[collective, own.send, own.recv]]));
          if (options.synchronize && random.fraction() < 0.2) await rank.synchronize();
        }
        await Promise.all(runs);
      }),
    );
    await forEachPlaced(onDevices, buffers, (device, host) => device.recv.copyTo(host.recv));
    for (const one of cases) differences.push(...one.compare(iteration, buffers[one.id] ?? []));
  }
  return differences;
}

function isOnGpus(world: World<Backend>): world is World<"cuda"> {
  return world.backend === "cuda";
}

type OnDevice = Buffers<DeviceBuffer<"float32">>;

/** Moves data between a rank's buffers on its GPU, where it has some, and those on the host. */
async function forEachPlaced(
  onDevices: readonly (readonly OnDevice[])[] | undefined,
  buffers: readonly (readonly Buffers[])[],
  move: (device: OnDevice, host: Buffers) => Promise<void>,
): Promise<void> {
  const moves = (onDevices ?? []).flatMap((ranks, id) =>
    ranks.map(async (device, rank) => {
      const host = buffers[id]?.[rank];
      if (host !== undefined) await move(device, host);
    }),
  );
  await Promise.all(moves);
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

  register(rank: Rank<Backend>): RegisteredCollective {
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

  /** Every rank's buffers on its GPU. */
  place(ranks: readonly Rank<"cuda">[]): OnDevice[] {
    return ranks.slice(0, this.ranks).map((rank) => this.cut(rank.number, (length) => rank.allocate("float32", length)));
  }

  fill(iteration: number): Buffers[] {
    return this.program.ranks.map((_, rank) => {
      const { send, recv } = this.cut(rank, (length) => new Float32Array(length));
      for (let i = 0; i < send.length; i += 1) send[i] = elementAt(iteration, rank, i);
      return { send, recv };
    });
  }

  private cut<Memory extends { readonly length: number; subarray(begin: number, end?: number): Memory }>(
    rank: number,
    allocate: (length: number) => Memory,
  ): Buffers<Memory> {
    const { program } = this;
    const { count, inPlace } = this.options;
    const elements = (buffer: "input" | "output"): number => (bufferChunks(program, rank, buffer) / program.chunksPerSegment) * count;
    const sizes = { input: elements("input"), output: elements("output") };
    if (!inPlace) return { send: allocate(sizes.input), recv: allocate(sizes.output) };
    const whole = allocate(Math.max(sizes.input, sizes.output));
    const part = (size: number): Memory => whole.subarray(size === whole.length ? 0 : rank * count).subarray(0, size);
    return { send: part(sizes.input), recv: part(sizes.output) };
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
