import { Random } from "./random.js";

// Tensors read their inputs from one long pattern a rank, each from an offset that moves with every iteration: no time goes
// into filling buffers, and what an earlier run left in an output never is what this run must produce. Offsets are whole
// cache lines, so that inputs lie as well as buffers of their own would.
const offsets = 1024;
const lineElements = 16;

/**
 * Inputs whose sum is the same bits in any order of addition, and those sums: whole numbers of 16 bits, of which 256 ranks
 * add up to less than 2^24, where float32 is exact.
 */
export class ExactData {
  private readonly inputs: readonly Float32Array[];
  private readonly sums: Float32Array;

  /** @param own - the only rank whose input is kept, where the others are other processes'. */
  constructor(ranks: number, longest: number, seed: number, allocate: (elements: number) => Float32Array, own?: number) {
    const length = longest + offsets * lineElements;
    this.sums = new Float32Array(length);
    const others = own === undefined ? undefined : new Float32Array(length);
    this.inputs = Array.from({ length: ranks }, (_, rank) => {
      const random = new Random(seed, 0x5eed, rank);
      const input = others === undefined || rank === own ? allocate(length) : others;
      for (let i = 0; i < length; i += 1) {
        const value = random.next32() & 0xffff;
        input[i] = value;
        this.sums[i] = (this.sums[i] ?? 0) + value;
      }
      return input;
    });
  }

  /** All of a rank's pattern, and where in it a run's input begins. */
  pattern(rank: number): Float32Array {
    return this.inputs[rank] ?? new Float32Array(0);
  }
  offset(tensor: number, iteration: number): number {
    return offsetOf(tensor, iteration);
  }

  input(rank: number, tensor: number, iteration: number, elements: number): Float32Array {
    const from = offsetOf(tensor, iteration);
    return this.inputs[rank]?.subarray(from, from + elements) ?? new Float32Array(0);
  }

  /** Elements of an output that differ from what they must be, in any bit. */
  wrongElements(output: Float32Array, tensor: number, iteration: number): number {
    const from = offsetOf(tensor, iteration);
    const expected = this.sums.subarray(from, from + output.length);
    if (Buffer.compare(bytesOf(output), bytesOf(expected)) === 0) return 0;
    const [got, want] = [bitsOf(output), bitsOf(expected)];
    let wrong = 0;
    for (let i = 0; i < got.length; i += 1) if (got[i] !== want[i]) wrong += 1;
    return wrong;
  }
}

function offsetOf(tensor: number, iteration: number): number {
  // 61 and 1009 are primes, so that neither the next tensor nor the next iteration meets the same offset soon.
  return ((tensor * 61 + iteration * 1009) % offsets) * lineElements;
}

function bytesOf(view: Float32Array): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

function bitsOf(view: Float32Array): Uint32Array {
  return new Uint32Array(view.buffer, view.byteOffset, view.length);
}
