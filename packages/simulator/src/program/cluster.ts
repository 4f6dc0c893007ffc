import type { Link } from "../schedule/topology.js";

/**
 * Machines of equal GPUs: rank = node × gpusPerNode + gpu. Every GPU has a port of its own to the switch of its node, and
 * every node has network cards that its GPUs share; ports and cards send and receive at the same time.
 */
export interface Cluster {
  readonly gpusPerNode: number;
  readonly cardsPerNode: number;
  /** Of a GPU within its node. */
  readonly island: Link;
  /** Of a network card. */
  readonly network: Link;
}

/** What executing a program costs a GPU. */
export interface BlockCosts {
  /** Of a step for one tile, besides its bytes: waiting for the flag, the barrier of the block, publishing. */
  readonly stepNs: number;
  /** GB/s at which one block moves data. */
  readonly blockGigabytesPerSecond: number;
  /** What a message costs a network card besides its bytes. */
  readonly messageNs: number;
  /** Launching a kernel and knowing that it has ended. */
  readonly launchNs: number;
}

/** Measured on H200 (a block's writes to a peer, an empty launch), nominal for steps and messages. */
export const h200BlockCosts: BlockCosts = { stepNs: 1000, blockGigabytesPerSecond: 45, messageNs: 1000, launchNs: 8400 };
