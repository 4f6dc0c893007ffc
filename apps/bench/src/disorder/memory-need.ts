import os from "node:os";
import { DfcclError } from "@dfccl/primitives";
import { formatBytes } from "../terminal/table.js";
import { elementsOf, longestOf, type Workload } from "../workloads/workload.js";

/** The workload's buffers don't fit into this machine's memory. `facts` are {neededBytes, availableBytes}. */
export class MemoryError extends DfcclError {
  override readonly code = "MEMORY";

  constructor(neededBytes: number, availableBytes: number) {
    super(() => `The buffers take ${formatBytes(neededBytes)}, and ${formatBytes(availableBytes)} are free.`, {
      facts: { neededBytes, availableBytes },
      remedy: "Take fewer --ranks, or shrink the tensors with --scale.",
    });
  }
}

/** Bytes of a world's inputs and outputs, and of the sums to compare with. */
export function neededBytes(workload: Workload, ranks: number): number {
  return 4 * (ranks * elementsOf(workload) + (ranks + 1) * longestOf(workload));
}

/**
 * Refuses at once what the kernel would end halfway.
 * @throws {MemoryError}
 */
export function checkMemory(workload: Workload, ranks: number, availableBytes: number = freeBytes()): void {
  const needed = neededBytes(workload, ranks);
  if (needed > availableBytes) throw new MemoryError(needed, availableBytes);
}

function freeBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(os.freemem(), limit) : os.freemem();
}
