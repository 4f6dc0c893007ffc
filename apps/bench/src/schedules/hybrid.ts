import { openWorld, type Rank, type RegisteredCollective } from "@dfccl/core";
import { Random } from "../disorder/random.js";
import type { HybridPrograms, RankAction } from "./hybrid-programs.js";
import { interleave, type Timing } from "./interleave.js";
import { passUntil } from "./pass-time.js";

export interface HybridMeasurement {
  readonly programs: HybridPrograms;
  readonly rounds: number;
  readonly steps: number;
  /** That a rank computes in a step. */
  readonly computeMs: number;
  readonly jitter: number;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly onStep: (order: string) => void;
}

interface Member {
  readonly collective: RegisteredCollective;
  readonly send: Float32Array | undefined;
  readonly recv: Float32Array | undefined;
}

/**
 * Runs the programs with every collective submitted when it is ready ("preemptive"), and in one order that is fixed by hand on
 * each rank ("manual"): where hooks come in another order there, they wait for their turn.
 */
export async function measureHybrid(options: HybridMeasurement): Promise<Timing[]> {
  const { programs } = options;
  using world = openWorld({ ranks: programs.ranks, maxCollectives: 8192 });
  const members = world.ranks.map((rank) => membersOf(rank, programs));
  const contenders = (["preemptive", "manual"] as const).map((order, index) => {
    const ranks = world.ranks.map((rank) => {
      const random = new Random(options.seed, index, rank.number);
      const runner = new RankRunner(rank, members[rank.number] ?? new Map(), programs.actions[rank.number] ?? [], order === "manual");
      return () => runner.step(options.computeMs, options.jitter, random);
    });
    return { name: order, step: () => Promise.all(ranks.map((step) => step())).then(() => undefined) };
  });
  for (const { step } of contenders) for (let time = 0; time < 2; time += 1) await step();
  return await interleave(contenders, options);
}

function membersOf(rank: Rank, { collectives }: HybridPrograms): Map<number, Member> {
  const own = collectives.filter(({ ranks }) => ranks.includes(rank.number));
  return new Map(
    own.map(({ id, collective, ranks, elements }) => {
      const buffer = rank.allocate("float32", elements);
      const registered = rank.register({ id, collective, dataType: "float32", count: elements, ranks });
      if (collective === "all-reduce") return [id, { collective: registered, send: buffer, recv: buffer }];
      const isSender = ranks[0] === rank.number;
      return [id, { collective: registered, send: isSender ? buffer : undefined, recv: isSender ? undefined : buffer }];
    }),
  );
}

class RankRunner {
  private readonly running = new Map<number, PromiseLike<void>>();
  /** Manual: what may be submitted next, and what came too early. */
  private turn = 0;
  private readonly order: readonly number[];
  private readonly early = new Set<number>();

  constructor(
    private readonly rank: Rank,
    private readonly members: ReadonlyMap<number, Member>,
    private readonly actions: readonly RankAction[],
    private readonly isManual: boolean,
  ) {
    this.order = actions.flatMap((action) => (action.kind === "start" ? [action.id] : action.kind === "hooks" ? action.ids : []));
  }

  async step(computeMs: number, jitter: number, random: Random): Promise<void> {
    const total = computeMs * (1 + jitter * (2 * random.fraction() - 1));
    this.turn = 0;
    for (const action of this.actions) {
      if (action.kind === "compute") await passUntil(performance.now() + action.share * total);
      else if (action.kind === "start") this.start(action.id);
      else if (action.kind === "wait") await this.running.get(action.id);
      else for (const id of random.shuffle([...action.ids])) this.start(id);
    }
    await Promise.all(this.running.values());
  }

  private start(id: number): void {
    if (!this.isManual) {
      this.submit(id);
      return;
    }
    this.early.add(id);
    for (let next = this.order[this.turn]; next !== undefined && this.early.delete(next); next = this.order[this.turn]) {
      this.submit(next);
      this.turn += 1;
    }
  }

  private submit(id: number): void {
    const member = this.members.get(id);
    if (member !== undefined) this.running.set(id, this.rank.submit([[member.collective, member.send, member.recv]]));
  }
}
