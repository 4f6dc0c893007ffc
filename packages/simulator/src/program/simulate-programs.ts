import {
  checkInteger,
  checkObject,
  checkOptions,
  InvalidArgumentError,
  type OptionNames,
  readArgument,
  wireBytes,
} from "@dfccl/primitives";
import { checkAbove0, checkLink, checkTime } from "../schedule/check-scenario.js";
import { EventQueue } from "../schedule/event-queue.js";
import { type BlockCosts, type Cluster, h200BlockCosts } from "./cluster.js";
import { type PlacedProgram, placePrograms } from "./place-programs.js";
import { Ports } from "./ports.js";
import { bytesOfTile, type SimulatedBlock, type SimulatedStep } from "./simulated-block.js";

export interface ProgramSimulationOptions {
  readonly cluster: Cluster;
  /** Default: those of an H200. */
  readonly costs?: BlockCosts;
  /** Bytes of one chunk's tile; default: as many as fit into a slot of the protocol. */
  readonly tileBytes?: number;
}

const mostCards = 1024;
const optionNames: OptionNames<ProgramSimulationOptions> = { cluster: true, costs: true, tileBytes: true };

export interface ProgramTimes {
  /** From the start of all programs to the end of the last step. */
  readonly endNs: number;
  /** Executed, over all tiles. */
  readonly steps: number;
  /** That left over network cards, flags included. */
  readonly networkBytes: number;
}

/**
 * Executes programs side by side, step by step and tile by tile, on links with a latency and a bandwidth (the loops of GC3,
 * section 6.2): a block waits for messages, for free slots and for the blocks that it depends on, as the engine's does.
 * @throws {InvalidArgumentError} for a program that needs shared memory, ranks that don't fit, or one that can't end.
 */
export function simulatePrograms(placed: readonly PlacedProgram[], options: ProgramSimulationOptions): ProgramTimes {
  checkOptions("options", options, optionNames, "an object such as { cluster }");
  readArgument("options", "an object such as { cluster }", () => checkCluster(options));
  return new ProgramSimulation(placed, options).run();
}

function checkCluster({ cluster, costs = h200BlockCosts }: ProgramSimulationOptions): void {
  checkObject("cluster", cluster, "an object such as { gpusPerNode: 8, cardsPerNode: 8, island: islands.nvlink, network: infiniband }");
  checkInteger("cluster.gpusPerNode", cluster.gpusPerNode, 1);
  checkInteger("cluster.cardsPerNode", cluster.cardsPerNode, 1, mostCards);
  checkLink("cluster.island", cluster.island);
  checkLink("cluster.network", cluster.network);
  checkObject("costs", costs, "an object such as h200BlockCosts");
  for (const field of ["stepNs", "messageNs", "launchNs"] as const) checkTime(`costs.${field}`, costs[field]);
  checkAbove0("costs.blockGigabytesPerSecond", costs.blockGigabytesPerSecond);
}

/** Not by Math.max(...): as arguments of a call, many ranks would overflow the stack. */
function highestRank(placed: readonly PlacedProgram[]): number {
  return placed.reduce((highest, { ranks }) => ranks.reduce((most, rank) => Math.max(most, rank), highest), 0);
}

class ProgramSimulation {
  readonly #blocks: readonly SimulatedBlock[];
  readonly #costs: BlockCosts;
  readonly #ports: Ports;
  readonly #events = new EventQueue();
  #steps = 0;
  #endNs = 0;

  constructor(placed: readonly PlacedProgram[], { cluster, costs = h200BlockCosts, tileBytes }: ProgramSimulationOptions) {
    this.#blocks = placePrograms(placed, tileBytes);
    this.#costs = costs;
    this.#ports = new Ports(cluster, costs, 1 + highestRank(placed));
  }

  run(): ProgramTimes {
    for (const index of this.#blocks.keys()) this.#events.add(0, index);
    for (;;) {
      const now = this.#events.nextTime;
      const index = this.#events.take();
      const block = this.#blocks[index ?? -1];
      if (index === undefined || block === undefined) break;
      // Woken while it works, by what it no longer waits for.
      if (block.finishesAt !== undefined && block.finishesAt > now) continue;
      if (block.finishesAt !== undefined) this.#finish(block, now);
      this.#begin(block, index, now);
    }
    const stuck = this.#blocks.find((block) => block.tile < block.tiling.tiles);
    if (stuck !== undefined) {
      const where = `rank ${stuck.rank} of the cluster, step ${stuck.step}`;
      throw new InvalidArgumentError("program", `one that waits for ever (${where})`, "a program that the verifier accepts");
    }
    return { endNs: this.#endNs, steps: this.#steps, networkBytes: this.#ports.networkBytes };
  }

  /** Begins the block's next step if nothing is missing; otherwise sees to it that the block is looked at again. */
  #begin(block: SimulatedBlock, index: number, now: number): void {
    const next = block.tile < block.tiling.tiles ? block.steps[block.step] : undefined;
    if (next === undefined || !this.#dependenciesAreDone(block, index, next)) return;
    const { incoming, outgoing } = next;
    const messageAt = incoming === undefined ? now : incoming.messageAt;
    const slotAt = outgoing === undefined ? now : outgoing.slotAt;
    if (incoming !== undefined && messageAt === undefined) incoming.receiver = index;
    else if (outgoing !== undefined && slotAt === undefined) outgoing.sender = index;
    else if (Math.max(messageAt ?? now, slotAt ?? now) > now) this.#events.add(Math.max(messageAt ?? now, slotAt ?? now), index);
    else this.#execute(block, index, next, now);
  }

  #execute(block: SimulatedBlock, index: number, { step, outgoing, to }: SimulatedStep, now: number): void {
    const bytes = bytesOfTile(step, block.tile, block.tiling);
    const copiedAt = now + this.#costs.stepNs + bytes / this.#costs.blockGigabytesPerSecond;
    let finishesAt = copiedAt;
    if (outgoing !== undefined) {
      const onWire = wireBytes(block.tiling.program.protocol, bytes);
      const { blockFreeAt, arrivesAt, creditNs } = this.#ports.send(block.rank, to, onWire, now, copiedAt);
      finishesAt = blockFreeAt;
      outgoing.send(arrivesAt, creditNs);
      if (outgoing.receiver !== undefined) this.#events.add(arrivesAt, outgoing.receiver);
      outgoing.receiver = undefined;
    }
    block.finishesAt = finishesAt;
    this.#steps += 1;
    this.#endNs = Math.max(this.#endNs, finishesAt);
    this.#events.add(finishesAt, index);
  }

  #finish(block: SimulatedBlock, now: number): void {
    const incoming = block.steps[block.step]?.incoming;
    block.finishesAt = undefined;
    if (incoming !== undefined) {
      const freeAt = incoming.read(now);
      if (incoming.sender !== undefined) this.#events.add(freeAt, incoming.sender);
      incoming.sender = undefined;
    }
    block.step += 1;
    if (block.step === block.steps.length) {
      block.step = 0;
      block.tile += 1;
    }
    for (const other of block.waiting) this.#events.add(now, other);
    block.waiting.clear();
  }

  #dependenciesAreDone(block: SimulatedBlock, index: number, { dependencies }: SimulatedStep): boolean {
    for (const dependency of dependencies) {
      const other = this.#blocks[dependency.block];
      if (other === undefined || other.tile > block.tile || (other.tile === block.tile && other.step > dependency.step)) continue;
      other.waiting.add(index);
      return false;
    }
    return true;
  }
}
