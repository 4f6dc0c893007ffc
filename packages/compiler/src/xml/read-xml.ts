import {
  annotateFinish,
  type BufferKind,
  checkOptions,
  createProgram,
  type Dependency,
  InvalidArgumentError,
  type LocalChunk,
  type Op,
  opShapeOf,
  type Program,
  type Protocol,
  programLimits,
  type Step,
  takesReduceOp,
} from "@dfccl/primitives";
import { MalformedXmlError, UnsupportedXmlError } from "./errors.js";
import { nameRawData, type WrittenStep } from "./name-raw-data.js";
import { bufferOf, collectiveOf, opOf, originalSlots, protocolOf, type XmlCollective } from "./names.js";
import { parseElements, type XmlElement } from "./parse-elements.js";

/** An algorithm file: the program, and for which sizes its author made it. */
export interface XmlAlgorithm {
  readonly name: string;
  /** Not proven yet: `verifyProgram` does that. */
  readonly program: Program;
  /** Sizes, in bytes of a rank's larger buffer, from `minBytes` to below `maxBytes`; 0 stands for no limit. */
  readonly minBytes: number;
  readonly maxBytes: number;
}

export interface ReadXmlOptions {
  /** Slots that a connection is proven for. Default: those of MSCCL's runtime, 2 for Simple and 8 for LL and LL128. */
  readonly slotCount?: number;
  /** Where the text comes from, for errors to name. */
  readonly file?: string;
}

/**
 * Reads an algorithm in MSCCL's XML. Its operands of rrc, rrs and rrcs are those that the runtime uses: the local source. In
 * place, `i` and `o` are the same memory there; which of the two names a step gets here follows from whether the program
 * has written the chunk before.
 * @throws {MalformedXmlError} with the file, where `options` names it, and the line.
 * @throws {UnsupportedXmlError} for what can't be carried out, and why.
 * @throws {ProgramError} where steps wait in a circle or lack partners, so that no order of them exists.
 */
export function readXml(xml: string, options: ReadXmlOptions = {}): XmlAlgorithm {
  checkOptions("options", options, { slotCount: true, file: true }, 'an object such as { file: "ring.xml" }');
  const { file } = options;
  try {
    return readAlgorithm(xml, options);
  } catch (error) {
    const isOfFile = error instanceof MalformedXmlError || error instanceof UnsupportedXmlError;
    throw isOfFile && file !== undefined ? error.inFile(file) : error;
  }
}

function readAlgorithm(xml: string, options: ReadXmlOptions): XmlAlgorithm {
  if (typeof xml !== "string") throw new InvalidArgumentError("xml", xml, "the text of an algorithm file");
  // Editors on Windows begin a file with a byte order mark.
  const algo = parseElements(xml.replace(/^\uFEFF/, ""));
  if (algo.name !== "algo") throw algo.error(`the root is <${algo.name}>, not <algo>`);
  const facts = readFacts(algo);
  const gpus = inOrder(algo, "gpu", facts.ranks);
  const written = gpus.map((gpu) => inOrder(gpu, "tb").map(readBlock));
  const size = (gpu: XmlElement, attribute: string): number => gpu.number(attribute, 0, programLimits.bufferChunks);
  if (facts.collective !== "custom") {
    for (const gpu of gpus) checkSizes(gpu, facts, size(gpu, "i_chunks"), size(gpu, "o_chunks"));
  }
  const largest = (attribute: string): number => Math.max(0, ...gpus.map((gpu) => size(gpu, attribute)));
  const program = createProgram({
    collective: facts.collective,
    root: facts.root,
    protocol: facts.protocol,
    chunksPerSegment: facts.chunksPerSegment,
    inputSegments: facts.collective === "custom" ? largest("i_chunks") : undefined,
    outputSegments: facts.collective === "custom" ? largest("o_chunks") : undefined,
    slotCount: options.slotCount ?? originalSlots[facts.protocol],
    inPlace: facts.inPlace,
    outOfPlace: facts.outOfPlace,
    ranks: gpus.map((gpu, rank) => ({
      blocks: written[rank]?.length ? (written[rank] ?? []).map((block) => block.map(({ step }) => step)) : [[]],
      scratchChunks: size(gpu, "s_chunks"),
    })),
  });
  const named = nameRawData(program, written);
  const finished = takesReduceOp(named.collective) ? annotateFinish(named) : named;
  const minBytes = algo.number("minBytes", 0, Number.MAX_SAFE_INTEGER, 0);
  return { name: facts.name, program: finished, minBytes, maxBytes: algo.number("maxBytes", 0, Number.MAX_SAFE_INTEGER, 128 << 20) };
}

interface Facts {
  readonly name: string;
  readonly protocol: Protocol;
  readonly collective: XmlCollective;
  readonly root: number | undefined;
  readonly ranks: number;
  readonly chunksPerLoop: number;
  readonly chunksPerSegment: number;
  readonly inPlace: boolean;
  readonly outOfPlace: boolean;
}

function readFacts(algo: XmlElement): Facts {
  const collective = algo.word("coll", collectiveOf);
  const ranks = algo.number("ngpus", 1, 4096);
  const chunksPerLoop = algo.number("nchunksperloop", 1, programLimits.bufferChunks);
  algo.number("nchannels", 0, programLimits.bufferChunks);
  const hasSegments = collective === "all-gather" || collective === "reduce-scatter" || collective === "all-to-all";
  if (hasSegments && chunksPerLoop % ranks !== 0) {
    throw algo.error(`nchunksperloop=${chunksPerLoop} can't be shared by ${ranks} ranks`, { chunksPerLoop, ranks });
  }
  const inPlace = algo.flag("inplace", false);
  const hasRoot = collective === "reduce" || collective === "broadcast";
  return {
    name: algo.text("name"),
    protocol: algo.word("proto", protocolOf),
    collective,
    root: hasRoot ? algo.number("root", 0, ranks - 1, 0) : undefined,
    ranks,
    chunksPerLoop,
    chunksPerSegment: collective === "custom" ? 1 : hasSegments ? chunksPerLoop / ranks : chunksPerLoop,
    inPlace,
    outOfPlace: algo.flag("outofplace", !inPlace),
  };
}

/** Children of one name, each once, their ids 0, 1, … in any order. */
function inOrder(parent: XmlElement, name: string, count?: number): XmlElement[] {
  const children: XmlElement[] = [];
  for (const child of parent.children) {
    if (child.name !== name) throw child.error(`<${parent.name}> holds <${child.name}>, where only <${name}> may be`);
    const id = child.number("id", 0, (count ?? parent.children.length) - 1);
    if (children[id] !== undefined) throw child.error(`there are two <${name} id="${id}">`, { id });
    children[id] = child;
  }
  const wanted = count ?? parent.children.length;
  for (let id = 0; id < wanted; id += 1) if (children[id] === undefined) throw parent.error(`there is no <${name} id="${id}">`, { id });
  return children;
}

function checkSizes(gpu: XmlElement, { collective, ranks, chunksPerLoop }: Facts, input: number, output: number): void {
  const check = (attribute: string, size: number, times: number): void => {
    if (size !== 0 && size * times !== chunksPerLoop) {
      throw gpu.error(`${attribute}=${size} doesn't fit nchunksperloop=${chunksPerLoop} of ${collective}`, {
        attribute,
        size,
        chunksPerLoop,
      });
    }
  };
  check("i_chunks", input, collective === "all-gather" ? ranks : 1);
  check("o_chunks", output, collective === "reduce-scatter" ? ranks : 1);
}

/** A thread block's steps, each without the `nop`s that only wait; their waits are the next step's. */
function readBlock(tb: XmlElement): WrittenStep[] {
  const [send, recv, channel] = [tb.number("send", -1, 4095), tb.number("recv", -1, 4095), tb.number("chan", 0, 1023)];
  const steps: WrittenStep[] = [];
  for (const [index, element] of tb.children.entries()) {
    if (element.name !== "step") throw element.error(`<tb> holds <${element.name}>, where only <step> may be`);
    if (element.number("s", 0, tb.children.length - 1) !== index)
      throw element.error(`steps aren't numbered 0, 1, …: here ${index} should be`);
    const op: Op = element.word("type", opOf);
    const shape = opShapeOf(op);
    if (shape.sends && send < 0) throw element.error(`it sends, but its block has no peer to send to`);
    if (shape.receives && recv < 0) throw element.error(`it receives, but its block has no peer to receive from`);
    const operand = (kind: "src" | "dst"): LocalChunk => ({
      buffer: element.word<BufferKind>(`${kind}buf`, bufferOf),
      chunk: element.number(`${kind}off`, 0, programLimits.bufferChunks),
    });
    const step: Step = {
      op,
      count: op === "nop" ? 0 : element.number("cnt", 1, programLimits.bufferChunks),
      ...(shape.hasSource && { src: operand("src") }),
      ...(shape.hasDestination && { dst: operand("dst") }),
      ...(shape.sends && { send: { peer: send, channel } }),
      ...(shape.receives && { recv: { peer: recv, channel } }),
      ...readDependency(element),
    };
    steps.push({ step, line: element.line, isPublished: element.flag("hasdep", false) });
  }
  return steps;
}

function readDependency(step: XmlElement): { dependsOn?: Dependency[] } {
  const block = step.number("depid", -1, programLimits.blocks, -1);
  const at = step.number("deps", -1, programLimits.bufferChunks, -1);
  if (block < 0 && at < 0) return {};
  if (block < 0 || at < 0)
    throw new UnsupportedXmlError("it names a block or a step to wait for, but not both", "Give depid and deps.", { line: step.line });
  return { dependsOn: [{ block, step: at }] };
}
