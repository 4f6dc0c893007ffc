import type { Rank, RegisteredCollective } from "@dfccl/core";
import {
  checkFunction,
  checkInteger,
  checkObject,
  checkOptions,
  InvalidArgumentError,
  type OptionNames,
  readArgument,
} from "@dfccl/primitives";
import { readFields, readList, readWholeNumbers } from "../read-fields.js";

/** An all-reduce that one rank has registered. What it holds is the communicator's own business. */
export interface RegisteredReduction {
  readonly id: number;
  readonly elements: number;
  /** Gives it up on this rank. @pre no run of it is in flight. */
  close(): void;
}

export interface ReductionRequest {
  readonly reduction: RegisteredReduction;
  /** Reduced in place; may be longer than the reduction. */
  readonly data: Float32Array;
}

/**
 * One rank's side of the collective library: all that a schedule needs of it. {@link coreCommunicator} is the one over
 * `@dfccl/core`; a rank whose engine lives in another thread brings its own.
 */
export interface Communicator {
  /** This rank's position among the ranks that reduce together. */
  readonly rank: number;
  /** How many these are. */
  readonly size: number;
  /**
   * Registers an all-reduce. Never waits for other ranks; the same id, count and operator must follow on each of them.
   * @throws {InvalidArgumentError} naming what makes no sense.
   */
  register(options: { readonly id: number; readonly elements: number; readonly priority: number }): RegisteredReduction;
  /**
   * Submits runs, published together. Never waits.
   * @param onEnd - called once for each run that ends, with its position and, where it failed, why; never before submit() has returned.
   * @throws {InvalidArgumentError} naming what makes no sense; nothing is submitted then.
   */
  submit(requests: readonly ReductionRequest[], onEnd: (position: number, failure: unknown) => void): void;
  /** Zeroed memory that the library likes best. */
  allocate(elements: number): Float32Array;
}

export interface CoreCommunicatorOptions {
  /** Ranks of the world that reduce together, this one among them. Default: all. */
  readonly ranks?: readonly number[];
  /** Default "avg", which is what data parallelism does with gradients. */
  readonly op?: "avg" | "sum";
}

const optionNames: OptionNames<CoreCommunicatorOptions> = { ranks: true, op: true };

const reductionNames = { id: true, elements: true, priority: true } as const;
const requestNames: OptionNames<ReductionRequest> = { reduction: true, data: true };

/**
 * A communicator over one rank of a world.
 * @throws {InvalidArgumentError} where the rank isn't among `ranks`; UnknownOptionError.
 */
export function coreCommunicator(rank: Rank, options: CoreCommunicatorOptions = {}): Communicator {
  const aRank = "a rank of a world: one of openWorld()'s ranks, or what joinWorld() gives";
  checkObject("rank", rank, aRank);
  const example = 'an object such as { op: "sum" }';
  checkOptions("options", options, optionNames, example);
  const { ranks: given, op = "avg" } = readFields("options", options, optionNames, example);
  const [number, all] = readArgument("rank", aRank, () => [rank.number, rank.world.ranks.map((other) => other.number)] as const);
  checkInteger("rank.number", number, 0);
  const ranks = readWholeNumbers("ranks", given ?? all, "a list of ranks");
  if (op !== "avg" && op !== "sum") throw new InvalidArgumentError("op", op, '"avg" or "sum"');
  const position = ranks.indexOf(number);
  if (position < 0) throw new InvalidArgumentError("ranks", ranks, `a list with rank ${number}, whose communicator this is`);
  return new CoreCommunicator(rank, ranks, position, op);
}

class CoreReduction implements RegisteredReduction {
  constructor(readonly collective: RegisteredCollective) {}

  get id(): number {
    return this.collective.id;
  }

  get elements(): number {
    return this.collective.count;
  }

  close(): void {
    this.collective.unregister();
  }
}

class CoreCommunicator implements Communicator {
  readonly size: number;

  constructor(
    private readonly ofWorld: Rank,
    private readonly ranks: readonly number[],
    readonly rank: number,
    private readonly op: "avg" | "sum",
  ) {
    this.size = ranks.length;
  }

  register(options: { id: number; elements: number; priority: number }): RegisteredReduction {
    const { ofWorld, ranks, op } = this;
    const { id, elements, priority } = readFields(
      "options",
      options,
      reductionNames,
      "an object such as { id: 1, elements: 4, priority: 0 }",
    );
    return new CoreReduction(ofWorld.register({ id, collective: "all-reduce", dataType: "float32", count: elements, op, ranks, priority }));
  }

  submit(requests: readonly ReductionRequest[], onEnd: (position: number, failure: unknown) => void): void {
    checkFunction("onEnd", onEnd, "a function of a run's position and its failure");
    const runs = readList("requests", requests, "a list of { reduction, data }").map((request, index) => {
      const { reduction, data } = readFields(`requests[${index}]`, request, requestNames, "an object such as { reduction, data }");
      const registered = "one that this communicator registered";
      if (!readArgument("reduction", registered, () => reduction instanceof CoreReduction))
        throw new InvalidArgumentError("reduction", reduction, registered);
      return [(reduction as CoreReduction).collective, data, data] as const;
    });
    const ended = new Set<number>();
    const end = (position: number, failure: unknown): void => {
      ended.add(position);
      onEnd(position, failure);
    };
    let failed: number[] = [];
    const batch = this.ofWorld.submit(runs, {
      onComplete: ({ position, status }) => {
        if (status === "completed") end(position, undefined);
        else failed.push(position);
      },
    });
    // The batch alone says why a run failed, and what a closed or deadlocked world leaves behind.
    batch.then(undefined, (error: unknown) => {
      for (const position of failed) end(position, error);
      failed = [];
      for (let position = 0; position < runs.length; position += 1) if (!ended.has(position)) end(position, error);
    });
  }

  allocate(elements: number): Float32Array {
    return this.ofWorld.allocate("float32", elements);
  }
}
