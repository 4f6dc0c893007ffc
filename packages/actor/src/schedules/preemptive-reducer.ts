import type { GradientReducer, ReducerStatistics } from "./gradient-reducer.js";
import { asPromise, type Launcher } from "./launcher.js";

/**
 * Submits each gradient when it is ready. No order, no coordinator: the library preempts what other ranks have not
 * submitted yet. What becomes ready in one turn of the event loop is published together.
 */
export class PreemptiveReducer implements GradientReducer {
  readonly schedule = "preemptive";

  constructor(private readonly launcher: Launcher) {
    launcher.registerAll();
  }

  ready(id: number, data: Float32Array, onReduced: (failure: unknown) => void = () => undefined): void {
    this.launcher.launch([this.launcher.take(id, data, onReduced)]);
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
    this.launcher.close();
  }
}
