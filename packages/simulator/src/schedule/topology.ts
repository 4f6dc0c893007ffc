/** A link: what the first byte takes, and what all of them take (the α–β model). */
export interface Link {
  readonly alphaNs: number;
  /** GB/s, which is bytes a nanosecond. */
  readonly gigabytesPerSecond: number;
}

/** Islands of ranks with fast links between them, joined by a network of which each island has one card. */
export interface Topology {
  readonly ranksPerIsland: number;
  readonly island: Link;
  readonly network: Link;
}

/** Figures for common machines: measured on H200 for NVLink, nominal for the others. */
export const islands: Readonly<Record<"nvlink" | "pcie", Link>> = {
  nvlink: { alphaNs: 700, gigabytesPerSecond: 350 },
  pcie: { alphaNs: 1500, gigabytesPerSecond: 12 },
};
export const infiniband: Link = { alphaNs: 5000, gigabytesPerSecond: 25 };

/** Links as the simulation uses them: a network card carries one message after the other. */
export class Links {
  readonly #cardFreeAt = new Map<number, number>();

  constructor(readonly topology: Topology) {}

  /** Sends now. @returns when the sender is done, and when the receiver has everything. */
  send(now: number, from: number, to: number, bytes: number): { readonly sentAt: number; readonly arrivesAt: number } {
    const { ranksPerIsland, island, network } = this.topology;
    const [fromIsland, toIsland] = [Math.floor(from / ranksPerIsland), Math.floor(to / ranksPerIsland)];
    if (fromIsland === toIsland) {
      const sentAt = now + bytes / island.gigabytesPerSecond;
      return { sentAt, arrivesAt: sentAt + island.alphaNs };
    }
    const sentAt = Math.max(now, this.#cardFreeAt.get(fromIsland) ?? 0) + bytes / network.gigabytesPerSecond;
    this.#cardFreeAt.set(fromIsland, sentAt);
    return { sentAt, arrivesAt: sentAt + network.alphaNs };
  }
}
