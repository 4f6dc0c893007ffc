import { IncompleteStepError } from "./errors.js";
import type { GradientReducer, GradientTensor, ReducerStatistics } from "./gradient-reducer.js";
import { asPromise, type Launcher, nameOf, type PendingGradient } from "./launcher.js";
import { OrderedLaunch } from "./ordered-launch.js";
import type { Transport } from "./transport.js";

/** Between the ranks of a learned order: what each saw, and what rank 0 made of it. */
export interface OrderMessage {
  readonly kind: "seen" | "agreed";
  readonly order: readonly number[];
}

/**
 * Learns the order: the first step launches in the order of the list, once everything is ready, and records in which order
 * gradients came. Rank 0 gathers what all saw, sorts by the mean place, and tells everybody; from then on each rank launches in
 * that order by itself.
 */
export class LearnedReducer implements GradientReducer {
  readonly schedule = "learned";
  private readonly seen: number[] = [];
  private readonly held: PendingGradient[] = [];
  private readonly reports: (readonly number[])[] = [];
  private readonly awaitingOrder: (() => void)[] = [];
  private isFirstStep = true;
  private launch: OrderedLaunch | undefined;

  constructor(
    private readonly launcher: Launcher,
    private readonly tensors: readonly GradientTensor[],
    private readonly transport: Transport,
  ) {
    launcher.registerAll();
    transport.listen((_from, message) => this.receive(message as OrderMessage));
  }

  /** The order that all ranks launch in; none before it is known. */
  get order(): readonly number[] | undefined {
    return this.agreed;
  }
  private agreed: readonly number[] | undefined;

  ready(id: number, data: Float32Array, onReduced: (failure: unknown) => void = () => undefined): void {
    const gradient = this.launcher.take(id, data, onReduced);
    if (this.launch !== undefined && !this.isFirstStep) {
      this.launch.add(gradient);
      return;
    }
    this.held.push(gradient);
    if (!this.isFirstStep) return;
    this.seen.push(id);
    if (this.seen.length === this.tensors.length) this.endFirstStep();
  }

  reduce(id: number, data: Float32Array): Promise<void> {
    return asPromise((onReduced) => this.ready(id, data, onReduced));
  }

  async endStep(): Promise<void> {
    if (this.isFirstStep && this.held.length > 0) {
      const missing = this.tensors.filter(({ id }) => !this.seen.includes(id));
      throw new IncompleteStepError(this.schedule, missing.map(nameOf), this.held.length);
    }
    // Only the agreed order says whether what is held back waits for something that never came.
    if (this.launch === undefined && this.held.length > 0) await new Promise<void>((resolve) => this.awaitingOrder.push(resolve));
    this.launch?.requireNothingHeld(this.schedule);
    await this.launcher.drained();
  }

  statistics(): ReducerStatistics {
    return this.launcher.statistics();
  }

  close(): void {
    this.transport.close();
    this.launcher.close();
  }

  private endFirstStep(): void {
    this.isFirstStep = false;
    const byId = new Map(this.held.splice(0).map((gradient) => [gradient.tensor.id, gradient]));
    this.launcher.launch(this.tensors.flatMap(({ id }) => byId.get(id) ?? []));
    if (this.transport.rank === 0) this.collect(this.seen);
    else this.send(0, { kind: "seen", order: this.seen });
  }

  private receive(message: OrderMessage): void {
    if (message.kind === "seen") this.collect(message.order);
    else this.agree(message.order);
  }

  private collect(order: readonly number[]): void {
    this.reports.push(order);
    if (this.reports.length < this.transport.size) return;
    const agreed = byMeanPlace(this.reports);
    for (let rank = 1; rank < this.transport.size; rank += 1) this.send(rank, { kind: "agreed", order: agreed });
    this.agree(agreed);
  }

  private agree(order: readonly number[]): void {
    this.agreed = order;
    this.launch = new OrderedLaunch(
      this.launcher,
      order.map((id) => [id]),
    );
    for (const gradient of this.held.splice(0)) this.launch.add(gradient);
    for (const wake of this.awaitingOrder.splice(0)) wake();
  }

  private send(to: number, message: OrderMessage): void {
    this.launcher.counts.messages += 1;
    this.transport.send(to, message);
  }
}

/** Ids by the mean of their places in all lists; smaller ids first among equals, so that the result is one for all. */
function byMeanPlace(orders: readonly (readonly number[])[]): number[] {
  const sums = new Map<number, number>();
  for (const order of orders) order.forEach((id, place) => void sums.set(id, (sums.get(id) ?? 0) + place));
  return [...sums].sort(([a, x], [b, y]) => x - y || a - b).map(([id]) => id);
}
