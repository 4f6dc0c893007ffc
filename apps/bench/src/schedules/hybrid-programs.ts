import type { Workload } from "../workloads/workload.js";

/** Degrees of parallelism, as "dp=2,tp=2,pp=2". */
export interface Degrees {
  readonly dp: number;
  readonly tp: number;
  readonly pp: number;
}

export interface HybridCollective {
  readonly id: number;
  readonly collective: "all-reduce" | "send-recv";
  readonly ranks: readonly number[];
  readonly elements: number;
}

/** What a rank does, one after the other. A gradient's start is a hook: hooks of one layer come in any order. */
export type RankAction =
  | { readonly kind: "compute"; readonly share: number }
  | { readonly kind: "start"; readonly id: number }
  | { readonly kind: "wait"; readonly id: number }
  | { readonly kind: "hooks"; readonly ids: readonly number[] };

export interface HybridPrograms {
  readonly ranks: number;
  readonly collectives: readonly HybridCollective[];
  /** By rank; shares of computing add up to 1. */
  readonly actions: readonly (readonly RankAction[])[];
}

export interface HybridOptions extends Degrees {
  readonly workload: Workload;
  readonly microBatches: number;
  /** Elements of an activation that goes from layer to layer, in one micro-batch. */
  readonly activation: number;
}

/**
 * Programs of transformer training as Megatron-LM lays it out: two all-reduces among tensor-parallel ranks in each layer's forward
 * and backward pass, sends between stages in the order of one forward, one backward, and all-reduces of gradients among
 * data-parallel ranks as the last micro-batch's backward pass makes them.
 */
export function hybridPrograms(options: HybridOptions): HybridPrograms {
  return new ProgramBuilder(options).build();
}

class ProgramBuilder {
  private readonly collectives = new Map<string, HybridCollective>();
  private readonly layers: readonly number[][];

  constructor(private readonly options: HybridOptions) {
    this.layers = layersOf(options.workload);
  }

  build(): HybridPrograms {
    const { dp, tp, pp } = this.options;
    const ranks = dp * tp * pp;
    const actions = Array.from({ length: ranks }, (_, rank) => this.actionsOf(rank));
    return { ranks, collectives: [...this.collectives.values()], actions };
  }

  private actionsOf(rank: number): RankAction[] {
    const { pp, dp, tp, microBatches } = this.options;
    const stage = Math.floor(rank / (dp * tp));
    const warmUp = Math.min(pp - 1 - stage, microBatches);
    const actions: RankAction[] = [];
    let backward = 0;
    for (let forward = 0; forward < microBatches; forward += 1) {
      this.forward(actions, rank, stage);
      if (forward < warmUp) continue;
      this.backward(actions, rank, stage, backward === microBatches - 1);
      backward += 1;
    }
    for (; backward < microBatches; backward += 1) this.backward(actions, rank, stage, backward === microBatches - 1);
    const computes = actions.flatMap((action) => (action.kind === "compute" ? [action.share] : []));
    const total = computes.reduce((sum, share) => sum + share, 0);
    return actions.map((action) => (action.kind === "compute" ? { ...action, share: action.share / total } : action));
  }

  private forward(actions: RankAction[], rank: number, stage: number): void {
    if (stage > 0) this.blocking(actions, this.link(rank, -1, "forward"));
    for (const layer of this.layersOfStage(stage)) {
      for (let half = 0; half < 2; half += 1) {
        actions.push({ kind: "compute", share: 0.5 });
        this.reduceAmongTensorRanks(actions, rank, layer, `forward ${half}`);
      }
    }
    if (stage < this.options.pp - 1) this.sending(actions, this.link(rank, 1, "forward"));
  }

  private backward(actions: RankAction[], rank: number, stage: number, isLast: boolean): void {
    if (stage < this.options.pp - 1) this.blocking(actions, this.link(rank, 1, "backward"));
    for (const layer of this.layersOfStage(stage).reverse()) {
      for (let half = 0; half < 2; half += 1) {
        actions.push({ kind: "compute", share: 1 });
        this.reduceAmongTensorRanks(actions, rank, layer, `backward ${half}`);
      }
      if (isLast && this.options.dp > 1) actions.push({ kind: "hooks", ids: this.gradientsOf(rank, layer) });
    }
    if (stage > 0) this.sending(actions, this.link(rank, -1, "backward"));
  }

  private reduceAmongTensorRanks(actions: RankAction[], rank: number, layer: number, what: string): void {
    const { tp, activation } = this.options;
    if (tp === 1) return;
    const first = rank - (rank % tp);
    const ranks = Array.from({ length: tp }, (_, index) => first + index);
    this.blocking(actions, this.collective(`tensor ${first} ${layer} ${what}`, "all-reduce", ranks, activation));
  }

  private gradientsOf(rank: number, layer: number): number[] {
    const { dp, tp } = this.options;
    const first = rank - (rank % (dp * tp)) + (rank % tp);
    const ranks = Array.from({ length: dp }, (_, index) => first + index * tp);
    const sizes = this.layers[layer] ?? [];
    return sizes
      .map((elements, tensor) => this.collective(`gradient ${first} ${layer} ${tensor}`, "all-reduce", ranks, Math.ceil(elements / tp)))
      .reverse();
  }

  /** The transfer between a rank and its neighbour in the next (1) or previous (-1) stage. */
  private link(rank: number, step: number, pass: "forward" | "backward"): number {
    const { dp, tp, activation } = this.options;
    const other = rank + step * dp * tp;
    const [low, high] = [Math.min(rank, other), Math.max(rank, other)];
    const ranks = pass === "forward" ? [low, high] : [high, low];
    return this.collective(`link ${low} ${pass}`, "send-recv", ranks, activation);
  }

  private blocking(actions: RankAction[], id: number): void {
    actions.push({ kind: "start", id }, { kind: "wait", id });
  }

  /** Two stages that each waited for the other to take what they send would wait for ever: only the buffer is waited for. */
  private sending(actions: RankAction[], id: number): void {
    actions.push({ kind: "wait", id }, { kind: "start", id });
  }

  private collective(name: string, collective: HybridCollective["collective"], ranks: readonly number[], elements: number): number {
    const known = this.collectives.get(name);
    if (known !== undefined) return known.id;
    const id = this.collectives.size;
    this.collectives.set(name, { id, collective, ranks, elements });
    return id;
  }

  private layersOfStage(stage: number): number[] {
    const { pp } = this.options;
    return this.layers.map((_sizes, layer) => layer).filter((layer) => Math.floor((layer * pp) / this.layers.length) === stage);
  }
}

/** Sizes of the tensors of each transformer layer; what lies before and after belongs to the first and the last. */
function layersOf({ tensors }: Workload): number[][] {
  const layers: number[][] = [];
  let before: number[] = [];
  for (const { name, elements } of tensors) {
    const [, number] = /^(?:blocks|h)\.(\d+)\./.exec(name) ?? [];
    if (number === undefined) {
      if (layers.length === 0) before.push(elements);
      else layers.at(-1)?.push(elements);
      continue;
    }
    const layer = Number(number);
    layers[layer] = [...(layers[layer] ?? before), elements];
    before = [];
  }
  return layers;
}
