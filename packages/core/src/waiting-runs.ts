import type { RunRequest } from "./api.js";
import type { LocalBatch } from "./batch.js";
import type { Registration } from "./registration.js";

/** A run that was submitted and that the engine hasn't been given yet. */
export interface WaitingRun {
  readonly batch: LocalBatch;
  readonly registration: Registration;
  readonly request: RunRequest;
  /** In its batch. */
  readonly position: number;
}

interface Node extends WaitingRun {
  older: Node | undefined;
  newer: Node | undefined;
  nextOfId: Node | undefined;
}

interface Lane {
  first: Node;
  last: Node;
}

/**
 * Runs in the order of their submission, and those of each id as well: only the first of an id may be taken out, so runs of
 * one id keep their order. Adding and taking cost the same however many wait.
 */
export class WaitingRuns {
  private oldestNode: Node | undefined;
  private newestNode: Node | undefined;
  private readonly lanes = new Map<Registration, Lane>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  get oldest(): WaitingRun | undefined {
    return this.oldestNode;
  }

  /** The ids of which runs wait. One whose first run is taken out meanwhile may come to its end. */
  registrations(): Iterable<Registration> {
    return this.lanes.keys();
  }

  add(run: WaitingRun): void {
    const node: Node = { ...run, older: this.newestNode, newer: undefined, nextOfId: undefined };
    if (this.newestNode === undefined) this.oldestNode = node;
    else this.newestNode.newer = node;
    this.newestNode = node;
    const lane = this.lanes.get(run.registration);
    if (lane === undefined) this.lanes.set(run.registration, { first: node, last: node });
    else {
      lane.last.nextOfId = node;
      lane.last = node;
    }
    run.registration.waitingRuns += 1;
    this.count += 1;
  }

  /** Takes the first run of an id out. */
  take(registration: Registration): WaitingRun | undefined {
    const lane = this.lanes.get(registration);
    if (lane === undefined) return undefined;
    const node = lane.first;
    if (node.nextOfId === undefined) this.lanes.delete(registration);
    else lane.first = node.nextOfId;
    if (node.older === undefined) this.oldestNode = node.newer;
    else node.older.newer = node.newer;
    if (node.newer === undefined) this.newestNode = node.older;
    else node.newer.older = node.older;
    registration.waitingRuns -= 1;
    this.count -= 1;
    return node;
  }

  /** Takes all of them out, the oldest first. */
  takeAll(): WaitingRun[] {
    const runs: WaitingRun[] = [];
    for (let run = this.oldest; run !== undefined; run = this.oldest) {
      runs.push(run);
      this.take(run.registration);
    }
    return runs;
  }
}
