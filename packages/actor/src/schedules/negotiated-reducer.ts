import type { GradientReducer, ReducerStatistics } from "./gradient-reducer.js";
import { asPromise, type Launcher, type PendingGradient } from "./launcher.js";
import type { Transport } from "./transport.js";

/** How Ready goes up and Start comes down: every rank with rank 0, or each with its neighbour. */
export type Negotiation = "star" | "chain";

/** One gradient's Ready or Start. */
export interface NegotiationMessage {
  readonly kind: "ready" | "start";
  readonly id: number;
}

/**
 * Preemptive, with OCCL's optional negotiation: a gradient is submitted when all ranks have it. The library needs no such
 * thing to be safe; it spares preemptions of what can't run yet, for a round trip of messages.
 */
export class NegotiatedReducer implements GradientReducer {
  readonly schedule = "preemptive";
  private readonly held = new Map<number, PendingGradient>();
  private readonly readies = new Map<number, number>();
  private readonly needed: number;

  constructor(
    private readonly launcher: Launcher,
    private readonly transport: Transport,
    private readonly shape: Negotiation,
  ) {
    const { rank, size } = transport;
    // Of a chain a rank hears its own and its successor's, which speaks for all behind it.
    this.needed = shape === "star" ? (rank === 0 ? size : 1) : rank === size - 1 ? 1 : 2;
    launcher.registerAll();
    transport.listen((_from, message) => this.receive(message as NegotiationMessage));
  }

  ready(id: number, data: Float32Array, onReduced: (failure: unknown) => void = () => undefined): void {
    this.held.set(id, this.launcher.take(id, data, onReduced));
    this.count(id);
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
    this.transport.close();
    this.launcher.close();
  }

  private count(id: number): void {
    const count = (this.readies.get(id) ?? 0) + 1;
    this.readies.set(id, count % this.needed);
    if (count < this.needed) return;
    if (this.transport.rank === 0) this.start(id);
    else this.send(this.shape === "star" ? 0 : this.transport.rank - 1, { kind: "ready", id });
  }

  private start(id: number): void {
    const { rank, size } = this.transport;
    if (this.shape === "chain") {
      if (rank + 1 < size) this.send(rank + 1, { kind: "start", id });
    } else if (rank === 0) {
      for (let other = 1; other < size; other += 1) this.send(other, { kind: "start", id });
    }
    const gradient = this.held.get(id);
    if (gradient === undefined) return;
    this.held.delete(id);
    this.launcher.launch([gradient]);
  }

  private receive({ kind, id }: NegotiationMessage): void {
    if (kind === "ready") this.count(id);
    else this.start(id);
  }

  private send(to: number, message: NegotiationMessage): void {
    this.launcher.counts.messages += 1;
    this.transport.send(to, message);
  }
}
