import { XMLParser, XMLValidator } from "fast-xml-parser";
import { MalformedXmlError } from "./errors.js";

/** algo, gpu, tb and step: nothing lies deeper. */
const mostNesting = 6;
const mostCharacters = 16 << 20;

/** An element with its attributes as written. */
export class XmlElement {
  constructor(
    readonly name: string,
    readonly line: number,
    readonly attributes: Readonly<Record<string, string>>,
    readonly children: readonly XmlElement[],
  ) {}

  /** @throws {MalformedXmlError} if the attribute is missing and has no default. */
  text(attribute: string, fallback?: string): string {
    const value = Object.hasOwn(this.attributes, attribute) ? this.attributes[attribute] : fallback;
    if (value === undefined) throw this.error(`<${this.name}> has no attribute ${attribute}`, { attribute });
    return value;
  }

  /** A whole number from `least` to `most`. */
  number(attribute: string, least: number, most: number, fallback?: number): number {
    const text = this.text(attribute, fallback === undefined ? undefined : String(fallback));
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) {
      throw this.error(`${attribute}="${shortened(text)}" of <${this.name}> is no whole number from ${least} to ${most}`, {
        attribute,
        value: text,
      });
    }
    return value;
  }

  flag(attribute: string, fallback?: boolean): boolean {
    return this.number(attribute, 0, 1, fallback === undefined ? undefined : Number(fallback)) === 1;
  }

  /** One of several words; case doesn't matter. */
  word<T extends string>(attribute: string, words: Readonly<Record<string, T>>): T {
    const text = this.text(attribute);
    const word = Object.hasOwn(words, text.toLowerCase()) ? words[text.toLowerCase()] : undefined;
    if (word === undefined) {
      throw this.error(`${attribute}="${shortened(text)}" of <${this.name}> is none of ${Object.keys(words).join(", ")}`, {
        attribute,
        value: text,
      });
    }
    return word;
  }

  error(what: string, facts: Readonly<Record<string, unknown>> = {}): MalformedXmlError {
    return new MalformedXmlError(what, { line: this.line, element: this.name, ...facts });
  }
}

/**
 * Parses XML that nobody has to trust.
 * @returns the root element.
 * @throws {MalformedXmlError} with the line.
 */
export function parseElements(xml: string): XmlElement {
  if (xml.length > mostCharacters) throw new MalformedXmlError(`the file has ${xml.length} characters, more than ${mostCharacters}`);
  // Nothing here needs a document type, and with it go all entities but the five that XML has by itself.
  const documentType = /<!(?:DOCTYPE|ENTITY)/i.exec(xml);
  if (documentType !== null) {
    throw new MalformedXmlError("it has a document type, which such files don't", { line: lineAt(xml, documentType.index) });
  }
  const validity = XMLValidator.validate(xml);
  if (validity !== true)
    throw new MalformedXmlError(`it is no well-formed XML: ${validity.err.msg.replace(/\.$/, "")}`, { line: validity.err.line });
  let parsed: unknown;
  try {
    parsed = new XMLParser({
      preserveOrder: true,
      ignoreAttributes: false,
      attributeNamePrefix: "",
      parseAttributeValue: false,
      parseTagValue: false,
      processEntities: false,
      ignoreDeclaration: true,
      ignorePiTags: true,
      captureMetaData: true,
      maxNestedTags: mostNesting,
    }).parse(xml);
  } catch (cause) {
    throw new MalformedXmlError(`it can't be parsed: ${cause instanceof Error ? cause.message : String(cause)}`, {}, cause);
  }
  const roots = elementsOf(parsed, lineCounter(xml));
  const [root] = roots;
  if (root === undefined || roots.length !== 1) throw new MalformedXmlError(`it has ${roots.length} elements at its root, not one`);
  return root;
}

const metaData = XMLParser.getMetaDataSymbol() as unknown as symbol;

/** From the parser's own form: `{ name: children, ":@": attributes }`. */
function elementsOf(nodes: unknown, lineOf: (index: number) => number): XmlElement[] {
  if (!Array.isArray(nodes)) return [];
  return nodes.flatMap((node: Readonly<Record<string | symbol, unknown>>) => {
    const name = Object.keys(node).find((key) => key !== ":@");
    if (name === undefined) return [];
    const { startIndex = 0 } = (node[metaData] ?? {}) as { startIndex?: number };
    const line = lineOf(startIndex);
    if (name === "#text") {
      if (String(node[name]).trim() !== "")
        throw new MalformedXmlError(`it has text between elements: "${shortened(String(node[name]).trim())}"`);
      return [];
    }
    return [new XmlElement(name, line, (node[":@"] ?? {}) as Record<string, string>, elementsOf(node[name], lineOf))];
  });
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

/** Lines of indices that come in rising order, each counted from the last. */
function lineCounter(text: string): (index: number) => number {
  let [line, counted] = [1, 0];
  return (index) => {
    for (; counted < index; counted += 1) if (text.charCodeAt(counted) === 10) line += 1;
    return line;
  };
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
