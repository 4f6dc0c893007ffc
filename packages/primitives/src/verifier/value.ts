import { checkList } from "../check-kind.js";
import { checkInteger } from "../check-number.js";
import { checkObject } from "../check-object.js";
import { DfcclError, InvalidArgumentError } from "../errors.js";

/**
 * What a chunk holds, as a multiset: how often each rank's each input chunk has been added. A term is numbered
 * rank * termsPerRank + input chunk. Values never change, so a copy is the same object.
 */
export interface Value {
  readonly terms: Int32Array;
  /** How often each term occurs; stops counting at `manyTimes`. */
  readonly times: Uint8Array;
  /** `avg` has divided it. */
  readonly finished: boolean;
  /** Where in their segments all its input chunks lie, which decides its length; undefined if they differ. */
  readonly position: number | undefined;
  /** Number of the expression that made it; equal expressions give equal bits. See {@link ValueFactory.combine}. */
  readonly expression: number;
}

/** An input chunk, `rank` being an index into the rank list. */
export interface InputTerm {
  readonly rank: number;
  readonly chunk: number;
}

/** Twice is wrong already, so there is no need to count far; without a bound, x + x + … would. */
export const manyTimes = 255;

/**
 * Makes values and recognises equal expressions. What isn't such a value or a list of such terms its methods refuse with an
 * InvalidArgumentError.
 */
export class ValueFactory {
  private readonly expressions = new Map<string, number>();
  private readonly inputs = new Map<number, Value>();
  private readonly knownEqual = new Map<Value, readonly InputTerm[]>();

  constructor(
    private readonly rankCount: number,
    private readonly termsPerRank: number,
    private readonly chunksPerSegment: number,
  ) {
    checkInteger("rankCount", rankCount, 1);
    checkInteger("termsPerRank", termsPerRank, 0);
    checkInteger("chunksPerSegment", chunksPerSegment, 1);
  }

  /** A rank's untouched input chunk. */
  input(rank: number, chunk: number): Value {
    checkInteger("rank", rank, 0);
    checkInteger("chunk", chunk, 0);
    const term = rank * this.termsPerRank + chunk;
    let value = this.inputs.get(term);
    if (value === undefined) {
      const expression = this.expression(`input ${rank}`);
      const position = chunk % this.chunksPerSegment;
      value = { terms: Int32Array.of(term), times: Uint8Array.of(1), finished: false, position, expression };
      this.inputs.set(term, value);
    }
    return value;
  }

  /**
   * The reduction of several values, in this order. Two operands may be exchanged without changing a bit; more may not.
   */
  combine(operands: readonly Value[]): Value {
    try {
      return this.combined(operands);
    } catch (cause) {
      throw refused("operands", operands, "a list of values that input() and combine() made", cause);
    }
  }

  private combined(operands: readonly Value[]): Value {
    const [first] = operands;
    if (first !== undefined && operands.length === 1) return first;
    const names = operands.map(({ expression }) => expression);
    if (names.length === 2) names.sort((a, b) => a - b);
    const position = operands.every((operand) => operand.position === first?.position) ? first?.position : undefined;
    return { ...sumOf(operands), finished: false, position, expression: this.expression(names.join(" ")) };
  }

  finish(value: Value): Value {
    try {
      return { ...value, finished: true };
    } catch (cause) {
      throw refused("value", value, aValue, cause);
    }
  }

  /** The input chunk of which this is the complete reduction: every rank's chunk, each once. */
  completeChunk(value: Value): number | undefined {
    try {
      return this.chunkOf(value);
    } catch (cause) {
      throw refused("value", value, aValue, cause);
    }
  }

  private chunkOf({ terms, times }: Value): number | undefined {
    const [chunk] = terms;
    if (chunk === undefined || chunk >= this.termsPerRank || terms.length !== this.rankCount) return undefined;
    for (let rank = 0; rank < this.rankCount; rank += 1) {
      if (terms[rank] !== rank * this.termsPerRank + chunk || times[rank] !== 1) return undefined;
    }
    return chunk;
  }

  /** Whether the value is the reduction of exactly these input chunks, each as often as it is listed. */
  isReductionOf(value: Value, expected: readonly InputTerm[]): boolean {
    try {
      return this.isReduction(value, expected);
    } catch (cause) {
      throw refused("value", value, `${aValue}, and a list such as [{ rank: 0, chunk: 0 }]`, cause);
    }
  }

  private isReduction(value: Value, expected: readonly InputTerm[]): boolean {
    // Most ranks hold the very same value, and most chunks expect the very same terms.
    if (this.knownEqual.get(value) === expected) return true;
    const { terms, times } = value;
    const wanted = Int32Array.from(expected, ({ rank, chunk }) => rank * this.termsPerRank + chunk).sort();
    let position = 0;
    for (let index = 0; index < terms.length; index += 1) {
      for (let time = 0; time < (times[index] ?? 0); time += 1) {
        if (wanted[position] !== terms[index]) return false;
        position += 1;
      }
    }
    if (position !== wanted.length) return false;
    this.knownEqual.set(value, expected);
    return true;
  }

  /** For messages: the multiset in words, shortened in the middle. */
  describe(value: Value): string {
    try {
      return this.inWords(value);
    } catch (cause) {
      throw refused("value", value, aValue, cause);
    }
  }

  private inWords(value: Value): string {
    const words = Array.from(value.terms, (term, index) => {
      const times = value.times[index] ?? 0;
      const name = describeTerm(Math.floor(term / this.termsPerRank), term % this.termsPerRank);
      return times === 1 ? name : `${times} × ${name}`;
    });
    const shown = words.length <= 8 ? words : [...words.slice(0, 4), `… ${words.length - 8} more …`, ...words.slice(-4)];
    return shown.join(" + ") + (value.finished ? ", finished" : "");
  }

  private expression(name: string): number {
    let number = this.expressions.get(name);
    if (number === undefined) {
      number = this.expressions.size;
      this.expressions.set(name, number);
    }
    return number;
  }
}

const aValue = "a value that input() or combine() made";

/** What to throw in place of whatever came of a value that is none: to look at each first would cost more than all else. */
function refused(argument: string, value: unknown, expected: string, cause: unknown): DfcclError {
  return cause instanceof DfcclError ? cause : new InvalidArgumentError(argument, value, expected, { cause });
}

type Multiset = Pick<Value, "terms" | "times">;

const empty: Multiset = { terms: new Int32Array(0), times: new Uint8Array(0) };

function sumOf(sets: readonly Multiset[]): Multiset {
  if (sets.length < 2) return sets[0] ?? empty;
  const middle = sets.length >> 1;
  return merge(sumOf(sets.slice(0, middle)), sumOf(sets.slice(middle)));
}

/** Both lists of terms are sorted, and so is the result. */
function merge(a: Multiset, b: Multiset): Multiset {
  const terms = new Int32Array(a.terms.length + b.terms.length);
  const times = new Uint8Array(terms.length);
  let length = 0;
  let fromA = 0;
  let fromB = 0;
  while (fromA < a.terms.length || fromB < b.terms.length) {
    const nextA = a.terms[fromA] ?? Infinity;
    const nextB = b.terms[fromB] ?? Infinity;
    terms[length] = Math.min(nextA, nextB);
    const occurrences = (nextA <= nextB ? (a.times[fromA] ?? 0) : 0) + (nextB <= nextA ? (b.times[fromB] ?? 0) : 0);
    times[length] = Math.min(manyTimes, occurrences);
    if (nextA <= nextB) fromA += 1;
    if (nextB <= nextA) fromB += 1;
    length += 1;
  }
  return { terms: terms.subarray(0, length), times: times.subarray(0, length) };
}

/** For messages: a reduction in words, shortened in the middle. */
export function describeTerms(terms: readonly InputTerm[]): string {
  checkList("terms", terms, "a list such as [{ rank: 0, chunk: 0 }]");
  for (const term of terms) checkObject("a term", term, "an object such as { rank: 0, chunk: 0 }");
  const words = terms.map(({ rank, chunk }) => describeTerm(rank, chunk));
  return words.length <= 8
    ? words.join(" + ")
    : `${words.slice(0, 4).join(" + ")} + … ${words.length - 8} more … + ${words.slice(-4).join(" + ")}`;
}

function describeTerm(rank: number, chunk: number): string {
  return `input ${chunk} of rank ${rank}`;
}
