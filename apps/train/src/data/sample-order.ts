import { seededRandom } from "../random.js";

/**
 * Which records a step sees: every epoch all of them once, shuffled by seed and epoch. What leaves no whole batch at an epoch's
 * end moves to the next. The order knows nothing of ranks: rank r of N takes the r-th N-th of the batch, so that any number of
 * ranks trains on the same global batches.
 */
export class SampleOrder {
  private epoch = -1;
  private permutation = new Uint32Array();

  constructor(
    private readonly seed: number,
    private readonly records: number,
  ) {}

  /** Numbers of the records from position `from` of the endless order on. */
  slice(from: number, count: number): Uint32Array {
    return Uint32Array.from({ length: count }, (_, i) => this.at(from + i));
  }

  /** A number for each of these positions by which its record may be varied; it follows from seed and position alone. */
  variations(from: number, count: number): Uint32Array {
    return Uint32Array.from({ length: count }, (_, i) => Math.floor(seededRandom(this.seed + 31 * (from + i))() * 2 ** 32));
  }

  private at(position: number): number {
    const epoch = Math.floor(position / this.records);
    if (epoch !== this.epoch) {
      this.epoch = epoch;
      this.permutation = shuffled(this.records, this.seed + 7919 * epoch);
    }
    return this.permutation[position - epoch * this.records] ?? 0;
  }
}

function shuffled(count: number, seed: number): Uint32Array<ArrayBuffer> {
  const random = seededRandom(seed);
  const numbers = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    const kept = numbers[i] ?? 0;
    numbers[i] = numbers[j] ?? 0;
    numbers[j] = kept;
  }
  return numbers;
}
