/** What an aborted run was one of. */
export interface Quarantined {
  /** Whether no rank touches its buffers any more. */
  isQuarantineOver(): boolean;
}

/**
 * Buffers of aborted runs. An abort ends a run at once, while other ranks may still be reading or writing its buffers; they
 * must not be collected before every rank has let go of them.
 */
export class Quarantine {
  private readonly held = new Map<Quarantined, unknown[]>();

  get isEmpty(): boolean {
    return this.held.size === 0;
  }

  has(collective: Quarantined): boolean {
    return this.held.has(collective);
  }

  someBuffer(holds: (buffer: unknown) => boolean): boolean {
    return [...this.held.values()].some((buffers) => buffers.some(holds));
  }

  /** Holds the buffers of a run of this collective. */
  hold(collective: Quarantined, send: unknown, recv: unknown): void {
    const buffers = this.held.get(collective);
    if (buffers === undefined) this.held.set(collective, [send, recv]);
    else buffers.push(send, recv);
  }

  /** Lets go of what no rank touches any more. */
  release(): void {
    for (const collective of this.held.keys()) {
      if (collective.isQuarantineOver()) this.held.delete(collective);
    }
  }

  /** Lets go of everything. @pre the engine has stopped. */
  clear(): void {
    this.held.clear();
  }
}
