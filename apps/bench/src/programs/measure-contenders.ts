import { openWorld, type Rank, type RegisteredCollective } from "@dfccl/core";
import { bufferChunks } from "@dfccl/primitives";
import { median } from "../peers/median.js";
import { type Contender, countFor } from "./contenders.js";

export interface MeasureOptions {
  readonly bytes: number;
  /** Turns of each contender. */
  readonly rounds: number;
  readonly signal: AbortSignal;
  readonly onRound?: () => void;
}

export interface Measured {
  readonly name: string;
  /** Median time of a run, from submission on all ranks to the last completion. */
  readonly seconds: number;
  /** Of each turn. */
  readonly samples: readonly number[];
}

/** A turn lasts about so long. */
const turnSeconds = 0.02;

/**
 * Times programs for one size, out of place, in one world. They take turns, so that what the machine does to one it does to
 * all.
 * @returns in the order of the contenders.
 */
export async function measureContenders(contenders: readonly Contender[], options: MeasureOptions): Promise<Measured[]> {
  const ranks = contenders[0]?.program.ranks.length ?? 1;
  using world = openWorld({ ranks });
  const able = contenders.filter(({ program }) => program.outOfPlace);
  const entries = able.map((contender, id) => new Entry(contender, id, world.ranks, options.bytes));
  for (const entry of entries) await entry.warmUp();
  for (let round = 0; round < options.rounds; round += 1) {
    for (const entry of entries) {
      options.signal.throwIfAborted();
      await entry.takeTurn();
    }
    options.onRound?.();
  }
  return entries.map(({ name, samples }) => ({ name, seconds: median(samples), samples }));
}

class Entry {
  readonly name: string;
  readonly samples: number[] = [];
  private readonly collectives: readonly RegisteredCollective[];
  private readonly buffers: readonly (readonly [send: Float32Array, recv: Float32Array])[];
  private runsInATurn = 1;

  constructor({ name, program }: Contender, id: number, ranks: readonly Rank[], bytes: number) {
    this.name = name;
    const count = countFor(program, bytes);
    const elements = (rank: number, buffer: "input" | "output"): number =>
      (bufferChunks(program, rank, buffer) / program.chunksPerSegment) * count;
    this.collectives = ranks.map((rank) =>
      rank.register({
        id,
        collective: program.collective,
        dataType: "float32",
        count,
        program,
        ...(program.root === undefined ? {} : { root: program.root }),
      }),
    );
    this.buffers = ranks.map((rank) => [
      rank.allocate("float32", elements(rank.number, "input")).fill(1),
      rank.allocate("float32", elements(rank.number, "output")),
    ]);
  }

  async warmUp(): Promise<void> {
    await this.run(2);
    const began = performance.now();
    await this.run(3);
    const each = (performance.now() - began) / 3000;
    this.runsInATurn = Math.max(1, Math.min(1000, Math.round(turnSeconds / each)));
  }

  async takeTurn(): Promise<void> {
    const began = performance.now();
    await this.run(this.runsInATurn);
    this.samples.push((performance.now() - began) / 1000 / this.runsInATurn);
  }

  private async run(times: number): Promise<void> {
    for (let run = 0; run < times; run += 1) {
      await Promise.all(this.collectives.map((collective, rank) => collective.run(...(this.buffers[rank] ?? []))));
    }
  }
}
