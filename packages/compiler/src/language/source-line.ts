/** A function below which the user's own code stands on the stack. */
type Boundary = (...args: never[]) => unknown;

/**
 * A line of the user's program. Taking one is cheap, because the engine formats a stack only when somebody reads it:
 * a program of a hundred thousand operations takes as many.
 */
export class SourceLine {
  private readonly holder: { readonly stack?: string } = {};

  constructor(boundary: Boundary) {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 1;
    Error.captureStackTrace(this.holder, boundary);
    Error.stackTraceLimit = limit;
  }

  /** `file:line:column`, or "an unknown line". */
  toString(): string {
    const frame = (this.holder.stack ?? "").split("\n").find((text) => /^\s+at /.test(text)) ?? "";
    const place = /\((.*)\)$/.exec(frame)?.[1] ?? /^\s*at (?:async )?(.*)$/.exec(frame)?.[1];
    return place?.replace(/^file:\/\//, "").replace(/\?[^:]*/, "") ?? "an unknown line";
  }
}
