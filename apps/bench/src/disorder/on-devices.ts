import type { DeviceBuffer, Rank } from "@dfccl/core";
import type { Buffers, Operands } from "./buffers.js";

/** One rank's buffers on its GPU: the same pattern to read from, and all its outputs in one piece. */
interface OnDevice {
  readonly pattern: DeviceBuffer<"float32">;
  readonly results: DeviceBuffer<"float32">;
  /** `[tensor]` */
  readonly outputs: readonly DeviceBuffer<"float32">[];
}

/** What a setting has in place of the host's buffers where its ranks are GPUs. */
export interface DevicePlacement {
  readonly operands: Operands;
  /** Copies every rank's results to the host's buffers, where they are compared. */
  readonly fetch: () => Promise<void>;
}

export async function placeOnDevices(ranks: readonly Rank<"cuda">[], { data, outputs }: Buffers): Promise<DevicePlacement> {
  // By rank: where each is a process, this one's only.
  const placed = new Map<number, OnDevice>();
  await Promise.all(
    ranks.map(async (rank) => {
      const input = data.pattern(rank.number);
      const pattern = rank.allocate("float32", input.length);
      await pattern.copyFrom(input);
      const host = wholeOf(outputs[rank.number] ?? []);
      const results = rank.allocate("float32", host.length);
      const parts = (outputs[rank.number] ?? []).map((output) => partOf(results, host, output));
      placed.set(rank.number, { pattern, results, outputs: parts });
    }),
  );
  return {
    operands: (rank, tensor, iteration) => {
      const own = placed.get(rank);
      const output = own?.outputs[tensor];
      const from = data.offset(tensor, iteration);
      return [own?.pattern.subarray(from, from + (output?.length ?? 0)), output];
    },
    fetch: async () => {
      await Promise.all([...placed].map(([rank, { results }]) => results.copyTo(wholeOf(outputs[rank] ?? []))));
    },
  };
}

/** The memory that a rank's outputs were carved from. */
function wholeOf(outputs: readonly Float32Array[]): Float32Array {
  const first = outputs[0];
  const last = outputs.at(-1);
  if (first === undefined || last === undefined) return new Float32Array(0);
  return new Float32Array(first.buffer, first.byteOffset, (last.byteOffset + last.byteLength - first.byteOffset) / 4);
}

function partOf(results: DeviceBuffer<"float32">, whole: Float32Array, output: Float32Array): DeviceBuffer<"float32"> {
  const from = (output.byteOffset - whole.byteOffset) / 4;
  return results.subarray(from, from + output.length);
}
