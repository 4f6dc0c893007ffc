import { checkOptions, InvalidArgumentError, type OptionNames } from "@dfccl/primitives";
import type { Clock } from "../clock.js";
import { readFields } from "../read-fields.js";
import { FusionBuffers } from "./fusion-buffers.js";
import type { GradientReducer, GradientTensor, ReducerStatistics } from "./gradient-reducer.js";
import { asPromise, type Launcher, type PendingGradient } from "./launcher.js";
import { checkBytes, cutIntoGroups } from "./merge-groups.js";
import type { Transport } from "./transport.js";

/** Once a cycle: what has become ready on a rank goes up, what all ranks may launch comes down, in groups to fuse. */
export type CoordinatorMessage =
  | { readonly kind: "requests"; readonly ids: readonly number[] }
  | { readonly kind: "responses"; readonly groups: readonly (readonly number[])[] };

export interface CoordinatorOptions {
  /** Time between two negotiations, a finite number above 0; Horovod's 1 ms by default. */
  readonly cycleMs?: number;
  /** Bytes that one fused all-reduce carries at most; Horovod's 64 MiB by default. 0 fuses nothing. */
  readonly fusionBytes?: number;
  /**
   * Default true, as Horovod does: what is fused is copied into one buffer, reduced there, and copied back. False: it is launched
   * as one batch from where it lies, which costs less where copies are the host's work.
   */
  readonly isCopied?: boolean;
}

const optionNames: OptionNames<CoordinatorOptions> = { cycleMs: true, fusionBytes: true, isCopied: true };

/** Options with what is left out put in. @throws {InvalidArgumentError}, UnknownOptionError */
export function readCoordinatorOptions(options: CoordinatorOptions): Required<CoordinatorOptions> {
  const example = "an object such as { cycleMs: 1 }";
  checkOptions("coordinator", options, optionNames, example);
  const { cycleMs = 1, fusionBytes = 64 * 2 ** 20, isCopied = true } = readFields("coordinator", options, optionNames, example);
  if (!Number.isFinite(cycleMs) || cycleMs <= 0) throw new InvalidArgumentError("cycleMs", cycleMs, "a time above 0");
  checkBytes("fusionBytes", fusionBytes);
  if (typeof isCopied !== "boolean") throw new InvalidArgumentError("isCopied", isCopied, "true or false");
  return { cycleMs, fusionBytes, isCopied };
}

/**
 * A central coordinator after Horovod's protocol. Every rank negotiates once a cycle, in lockstep: rank 0 waits for each
 * rank's list of newly ready gradients, finds those that all have named, groups them for fusion, and broadcasts the list; each
 * rank launches it in that order. Cycles in which a rank waits for nothing are left out, so that idle ranks cost nothing;
 * cycles begin at whole multiples of the cycle time all the same, so that nobody waits less for it.
 */
export class CoordinatorReducer implements GradientReducer {
  readonly schedule = "coordinator";
  private readonly cycleMs: number;
  private readonly isCopied: boolean;
  private readonly fusion: FusionBuffers;
  private readonly root: Coordinator | undefined;
  private readonly opened: number;
  private readonly held = new Map<number, PendingGradient>();
  private news: number[] = [];
  private isNegotiating = false;
  private cancelTick: (() => void) | undefined;

  constructor(
    private readonly launcher: Launcher,
    tensors: readonly GradientTensor[],
    private readonly transport: Transport,
    private readonly clock: Clock,
    { cycleMs, fusionBytes, isCopied }: Required<CoordinatorOptions>,
  ) {
    this.cycleMs = cycleMs;
    this.isCopied = isCopied;
    this.opened = clock.now();
    this.fusion = new FusionBuffers(launcher, tensors.reduce((most, { id }) => Math.max(most, id), 0) + 1);
    launcher.registerAll();
    const bytesOf = new Map(tensors.map(({ id, elements }) => [id, 4 * elements]));
    if (transport.rank === 0) this.root = new Coordinator(transport.size, bytesOf, fusionBytes, (groups) => this.broadcast(groups));
    transport.listen((from, message) => this.receive(from, message as CoordinatorMessage));
  }

  ready(id: number, data: Float32Array, onReduced: (failure: unknown) => void = () => undefined): void {
    this.held.set(id, this.launcher.take(id, data, onReduced));
    this.news.push(id);
    this.awaitCycle();
  }

  reduce(id: number, data: Float32Array): Promise<void> {
    return asPromise((onReduced) => this.ready(id, data, onReduced));
  }

  endStep(): Promise<void> {
    return this.launcher.drained();
  }

  statistics(): ReducerStatistics {
    return this.launcher.statistics();
  }

  close(): void {
    this.cancelTick?.();
    this.transport.close();
    this.launcher.close();
  }

  private awaitCycle(): void {
    if (this.isNegotiating || this.cancelTick !== undefined || this.held.size === 0) return;
    const since = this.clock.now() - this.opened;
    const delay = (Math.floor(since / this.cycleMs) + 1) * this.cycleMs - since;
    this.cancelTick = this.clock.after(delay, () => {
      this.cancelTick = undefined;
      this.negotiate();
    });
  }

  private negotiate(): void {
    this.isNegotiating = true;
    const ids = this.news;
    this.news = [];
    if (this.root !== undefined) this.root.collect(0, ids);
    else this.send(0, { kind: "requests", ids });
  }

  private receive(from: number, message: CoordinatorMessage): void {
    if (message.kind === "requests") this.root?.collect(from, message.ids);
    else this.launchAll(message.groups);
  }

  private broadcast(groups: readonly (readonly number[])[]): void {
    for (let rank = 1; rank < this.transport.size; rank += 1) this.send(rank, { kind: "responses", groups });
    this.launchAll(groups);
  }

  private launchAll(groups: readonly (readonly number[])[]): void {
    this.isNegotiating = false;
    for (const group of groups) {
      const gradients = group.flatMap((id) => this.held.get(id) ?? []);
      for (const id of group) this.held.delete(id);
      if (gradients.length === 1 || !this.isCopied) this.launcher.launch(gradients);
      else this.fusion.launch(gradients);
    }
    this.awaitCycle();
  }

  private send(to: number, message: CoordinatorMessage): void {
    this.launcher.counts.messages += 1;
    this.transport.send(to, message);
  }
}

/** What rank 0 keeps: the ranks' requests of the cycle, and by how many ranks each gradient has been named. */
class Coordinator {
  private readonly cycles: (readonly number[])[][];
  private readonly named = new Map<number, number>();

  constructor(
    private readonly size: number,
    private readonly bytesOf: ReadonlyMap<number, number>,
    private readonly fusionBytes: number,
    private readonly respond: (groups: number[][]) => void,
  ) {
    this.cycles = Array.from({ length: size }, () => []);
  }

  collect(rank: number, ids: readonly number[]): void {
    this.cycles[rank]?.push(ids);
    if (this.cycles.some((waiting) => waiting.length === 0)) return;
    const complete: { readonly id: number; readonly bytes: number }[] = [];
    for (const waiting of this.cycles) {
      for (const id of waiting.shift() ?? []) {
        const count = (this.named.get(id) ?? 0) + 1;
        this.named.set(id, count % this.size);
        if (count === this.size) complete.push({ id, bytes: this.bytesOf.get(id) ?? 0 });
      }
    }
    const groups = cutIntoGroups(complete, { maxGroupBytes: this.fusionBytes, maxGroupSize: Math.max(1, complete.length) });
    this.respond(groups.map((group) => group.map(({ id }) => id)));
  }
}
