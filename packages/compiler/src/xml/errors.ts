import { DfcclError, type ErrorFacts } from "@dfccl/primitives";

/** The text is no algorithm file: malformed XML, or elements and attributes that such a file doesn't have. */
export class MalformedXmlError extends DfcclError {
  override readonly code = "MALFORMED_XML";

  constructor(what: string, facts: ErrorFacts = {}, cause?: unknown) {
    const where = facts.line === undefined ? "" : `Line ${facts.line}: `;
    super(`${where}${what}.`, {
      facts,
      remedy: "Give an algorithm file as MSCCL's tools write it.",
      ...(cause === undefined ? {} : { cause }),
    });
  }
}

/** The file is an algorithm, but one that can't be carried out as it stands. */
export class UnsupportedXmlError extends DfcclError {
  override readonly code = "UNSUPPORTED_XML";

  constructor(what: string, remedy: string, facts: ErrorFacts = {}) {
    const where = facts.line === undefined ? "" : `Line ${facts.line}: `;
    super(`${where}${what}.`, { facts, remedy });
  }
}

/** The program can do what MSCCL's runtime can't, so no file says it. */
export class NotExpressibleError extends DfcclError {
  override readonly code = "NOT_EXPRESSIBLE";

  constructor(what: string, remedy: string, facts: ErrorFacts = {}) {
    super(`${what}.`, { facts, remedy });
  }
}
