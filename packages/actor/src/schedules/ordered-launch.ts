import { IncompleteStepError } from "./errors.js";
import type { ScheduleName } from "./gradient-reducer.js";
import { type Launcher, nameOf, type PendingGradient } from "./launcher.js";

/**
 * Launches groups of gradients strictly in one order, the same in every step: a group when all of it is ready and all groups
 * before it are launched. Without preemption that is what keeps ranks from deadlock, and what makes them wait.
 */
export class OrderedLaunch {
  private readonly groupOf = new Map<number, number>();
  private readonly held = new Map<number, PendingGradient>();
  private next = 0;

  constructor(
    private readonly launcher: Launcher,
    private readonly groups: readonly (readonly number[])[],
  ) {
    groups.forEach((group, index) => {
      for (const id of group) this.groupOf.set(id, index);
    });
  }

  add(gradient: PendingGradient): void {
    const { id } = gradient.tensor;
    this.held.set(id, gradient);
    if (this.groupOf.get(id) === this.next) this.advance();
  }

  /** @throws {IncompleteStepError} where something is held back although the step has ended. */
  requireNothingHeld(schedule: ScheduleName): void {
    if (this.held.size === 0) return;
    const missing = this.groups.slice(this.next).flatMap((group) => group.filter((id) => !this.held.has(id)));
    throw new IncompleteStepError(
      schedule,
      missing.map((id) => nameOf(this.launcher.tensor(id))),
      this.held.size,
    );
  }

  private advance(): void {
    for (;;) {
      const group = this.groups[this.next] ?? [];
      const gradients: PendingGradient[] = [];
      for (const id of group) {
        const gradient = this.held.get(id);
        if (gradient === undefined) return;
        gradients.push(gradient);
      }
      if (gradients.length === 0) return;
      for (const id of group) this.held.delete(id);
      this.next = (this.next + 1) % this.groups.length;
      this.launcher.launch(gradients);
    }
  }
}
