import { DfcclError, type ErrorFacts } from "@dfccl/primitives";

/** "ring.xml:4: ", "ring.xml: ", "Line 4: " or "". */
function placeOf({ file, line }: ErrorFacts): string {
  if (file === undefined) return line === undefined ? "" : `Line ${line}: `;
  return line === undefined ? `${file}: ` : `${file}:${line}: `;
}

/** The text is no algorithm file: malformed XML, or elements and attributes that such a file doesn't have. */
export class MalformedXmlError extends DfcclError {
  override readonly code = "MALFORMED_XML";

  readonly #what: string;

  constructor(what: string, facts: ErrorFacts = {}, cause?: unknown) {
    super(() => `${placeOf(facts)}${what}.`, {
      facts,
      remedy: "Give an algorithm file as MSCCL's tools write it.",
      ...(cause === undefined ? {} : { cause }),
    });
    this.#what = what;
  }

  /** @internal */
  inFile(file: string): MalformedXmlError {
    return new MalformedXmlError(this.#what, { file, ...this.facts }, this.cause);
  }
}

/** The file is an algorithm, but one that can't be carried out as it stands. */
export class UnsupportedXmlError extends DfcclError {
  override readonly code = "UNSUPPORTED_XML";

  readonly #what: string;

  constructor(what: string, remedy: string, facts: ErrorFacts = {}) {
    super(() => `${placeOf(facts)}${what}.`, { facts, remedy });
    this.#what = what;
  }

  /** @internal */
  inFile(file: string): UnsupportedXmlError {
    return new UnsupportedXmlError(this.#what, this.remedy, { file, ...this.facts });
  }
}

/** The program can do what MSCCL's runtime can't, so no file says it. */
export class NotExpressibleError extends DfcclError {
  override readonly code = "NOT_EXPRESSIBLE";

  constructor(what: string, remedy: string, facts: ErrorFacts = {}) {
    super(`${what}.`, { facts, remedy });
  }
}
