import type { BlockCosts, Cluster } from "./cluster.js";

/** A message on its way; times in ns. */
export interface Transfer {
  /** When the sending block can go on. */
  readonly blockFreeAt: number;
  /** When the receiver sees all of it. */
  readonly arrivesAt: number;
  /** Until the sender knows that a slot was read. */
  readonly creditNs: number;
}

/**
 * When the ports of a cluster are free. A port carries one message after the other, in the order in which they were handed
 * over; between two ports a message may wait in the switch, so a busy receiver doesn't hold up a sender's next message.
 */
export class Ports {
  /** Bytes that have left over network cards. */
  networkBytes = 0;
  /** By GPU and by card; a port out and a port in each. */
  readonly #gpus: Float64Array;
  readonly #cards: Float64Array;

  /** @param rankCount - GPUs of the cluster that are used at all. */
  constructor(
    readonly cluster: Cluster,
    readonly costs: BlockCosts,
    rankCount: number,
  ) {
    this.#gpus = new Float64Array(2 * rankCount);
    this.#cards = new Float64Array(2 * cluster.cardsPerNode * Math.ceil(rankCount / cluster.gpusPerNode));
  }

  /**
   * Within a node, blocks write into the receiver's memory and are busy until the port has taken the last byte. To another
   * node, they fill a buffer from which the card sends, and go on.
   * @param copiedAt - when the block has read and reduced what it sends.
   */
  send(from: number, to: number, bytes: number, startsAt: number, copiedAt: number): Transfer {
    const { gpusPerNode, island, network } = this.cluster;
    if (Math.floor(from / gpusPerNode) === Math.floor(to / gpusPerNode)) {
      const takes = bytes / island.gigabytesPerSecond;
      const sentAt = occupy(this.#gpus, 2 * from, startsAt, takes);
      const receivedAt = occupy(this.#gpus, 2 * to + 1, sentAt - takes, takes);
      const blockFreeAt = Math.max(copiedAt, sentAt);
      return { blockFreeAt, arrivesAt: Math.max(blockFreeAt, receivedAt) + island.alphaNs, creditNs: island.alphaNs };
    }
    this.networkBytes += bytes;
    const takes = this.costs.messageNs + bytes / network.gigabytesPerSecond;
    const sentAt = occupy(this.#cards, 2 * this.#cardOf(from), copiedAt, takes);
    const receivedAt = occupy(this.#cards, 2 * this.#cardOf(to) + 1, sentAt - takes, takes);
    return { blockFreeAt: copiedAt, arrivesAt: receivedAt + network.alphaNs, creditNs: network.alphaNs };
  }

  #cardOf(rank: number): number {
    const { gpusPerNode, cardsPerNode } = this.cluster;
    return Math.floor(rank / gpusPerNode) * cardsPerNode + Math.floor(((rank % gpusPerNode) * cardsPerNode) / gpusPerNode);
  }
}

/** @returns until when the port is busy. */
function occupy(freeAt: Float64Array, port: number, from: number, takes: number): number {
  const until = Math.max(from, freeAt[port] ?? 0) + takes;
  freeAt[port] = until;
  return until;
}
