import { DfcclError, type ErrorFacts, formatValue, type Words } from "@dfccl/primitives";
import type { SourceLine } from "./source-line.js";
import { formatSpan, type Span } from "./span.js";

/** A program of the language is wrong. `facts.line` is the line of the user's program to look at. */
export abstract class LanguageError extends DfcclError {
  /** `file:line:column` in the user's program. */
  readonly line: string;

  constructor(line: SourceLine | string, what: Words<string>, remedy: string, facts: ErrorFacts = {}, cause?: unknown) {
    super(() => `${line}: ${typeof what === "function" ? what() : what}`, {
      facts: { line: String(line), ...facts },
      remedy,
      ...(cause === undefined ? {} : { cause }),
    });
    this.line = String(line);
  }
}

/** A chunk is read that nothing has been written to. */
export class UninitialisedChunkError extends LanguageError {
  override readonly code = "UNINITIALISED_CHUNK";

  constructor(line: SourceLine, chunk: Span) {
    super(line, () => `${formatSpan(chunk)} holds nothing yet.`, "Copy something there first, or name another chunk.", { ...chunk });
  }
}

/** A reference is used after another operation has written where it points. */
export class StaleReferenceError extends LanguageError {
  override readonly code = "STALE_REFERENCE";

  constructor(line: SourceLine, chunk: Span, overwritten: SourceLine) {
    super(
      line,
      () => `this reference to ${formatSpan(chunk)} is stale: ${overwritten} has written there since it was taken.`,
      "Use the reference that the later operation returned, or take a new one with chunk().",
      { ...chunk, overwrittenAt: String(overwritten) },
    );
  }
}

/** Chunks that a buffer doesn't have. */
export class ChunkOutOfRangeError extends LanguageError {
  override readonly code = "CHUNK_OUT_OF_RANGE";

  constructor(line: SourceLine, chunk: Span, available: number) {
    const has = available === 0 ? "this rank has no such buffer" : `the buffer has ${available}, numbered from 0`;
    super(line, () => `${formatSpan(chunk)} doesn't exist: ${has}.`, "Name chunks that the collective's signature gives this rank.", {
      ...chunk,
      available,
    });
  }
}

/** A rank that the collective doesn't have. */
export class NoSuchRankError extends LanguageError {
  override readonly code = "NO_SUCH_RANK";

  constructor(line: SourceLine, rank: number, ranks: number) {
    super(line, `there is no rank ${formatValue(rank)}.`, `Name ranks from 0 to ${ranks - 1}.`, { rank, ranks });
  }
}

/** Two references that are to be reduced differ in size, or overlap without being the same. */
export class SpanMismatchError extends LanguageError {
  override readonly code = "SPAN_MISMATCH";

  constructor(line: SourceLine, first: Span, second: Span, why: string) {
    super(line, () => `${formatSpan(first)} and ${formatSpan(second)} ${why}.`, "Give equal counts and ranges that are equal or apart.", {
      first,
      second,
    });
  }
}

/** In place, a span of the input of which a part is output by now. */
export class MixedSpanError extends LanguageError {
  override readonly code = "MIXED_SPAN";

  constructor(line: SourceLine, chunk: Span) {
    super(line, () => `a part of ${formatSpan(chunk)} is output by now, the rest still input.`, "Take the two parts one by one.", {
      ...chunk,
    });
  }
}

/** A write to a buffer that is read only. */
export class InputIsReadOnlyError extends LanguageError {
  override readonly code = "INPUT_IS_READ_ONLY";

  constructor(line: SourceLine, chunk: Span, isInPlace: boolean) {
    super(
      line,
      () => `${formatSpan(chunk)} can't be written${isInPlace ? ": in place, it is no part of the rank's output" : " out of place"}.`,
      isInPlace ? "Use a scratch chunk." : "Write to output or scratch, or declare the collective in place.",
      { ...chunk },
    );
  }
}

/** Data on its way rests in an output chunk that may be shorter than the data. */
export class MisplacedDataError extends LanguageError {
  override readonly code = "MISPLACED_DATA";

  constructor(line: SourceLine, chunk: Span, holds: string) {
    super(
      line,
      () => `${formatSpan(chunk)} would hold ${holds}, which may be longer where the count isn't a multiple of the chunks.`,
      "Keep data on its way in scratch chunks: those are never short.",
      { ...chunk, holds },
    );
  }
}

/** An argument or a directive that the language doesn't take. */
export class BadDirectiveError extends LanguageError {
  override readonly code = "BAD_DIRECTIVE";

  constructor(line: SourceLine | string, name: string, value: unknown, expected: string) {
    super(line, `${name} is ${formatValue(value)}.`, `Give ${expected}.`, { name, value, expected });
  }
}

/** An operation of a program that is to be direct, but must wait for another rank's. */
export class NotDirectError extends LanguageError {
  override readonly code = "NOT_DIRECT";

  constructor(line: SourceLine | string, why: string, cause?: unknown) {
    super(
      line,
      () => `this can't become an access to another rank's memory: ${why.replace(/\.$/, "")}.`,
      "Leave `direct` out, or let each rank reduce raw inputs only and hand its result on once.",
      { why },
      cause,
    );
  }
}

/** An operation of a direct program whose reductions can't all come before its copies to other ranks. */
export class NotInPhasesError extends LanguageError {
  override readonly code = "NOT_IN_PHASES";

  constructor(line: SourceLine | string, why: string) {
    super(
      line,
      `reductions and copies to other ranks can't be kept apart here: ${why}.`,
      "Say `direct: true`, or take places of their own for what is copied to other ranks.",
      { why },
    );
  }
}

/** At its end, the program hasn't done what its collective promises. */
export class WrongResultError extends LanguageError {
  override readonly code = "WRONG_RESULT";

  constructor(line: SourceLine | string, facts: { rank: number; index: number; holds: string; expected: string }) {
    super(
      line,
      () => `at the end, output[${facts.index}] of rank ${facts.rank} holds ${facts.holds} and should hold ${facts.expected}.`,
      facts?.holds === "nothing" ? "Add the operation that writes it." : "This line wrote it last: follow the value back from here.",
      facts,
    );
  }
}
