import {
  bufferChunks,
  checkInteger,
  checkOptions,
  checkProgram,
  checkText,
  type Dependency,
  inPlaceShift,
  type LocalChunk,
  type OptionNames,
  type Program,
  type Step,
} from "@dfccl/primitives";
import { XMLBuilder } from "fast-xml-parser";
import { NotExpressibleError } from "./errors.js";
import { bufferName, collectiveName, opName, originalLimits, protocolName } from "./names.js";

export interface WriteXmlOptions {
  readonly name: string;
  /** Sizes, in bytes, that the program is for: from `minBytes` to below `maxBytes`. Default: 0, and 0 for no limit. */
  readonly minBytes?: number;
  readonly maxBytes?: number;
  /** Write also what MSCCL's own runtime is too small for. Default false. */
  readonly ignoreLimits?: boolean;
}

const optionNames: OptionNames<WriteXmlOptions> = { name: true, minBytes: true, maxBytes: true, ignoreLimits: true };

type Attributes = Readonly<Record<string, string | number>>;

/**
 * Writes a program as MSCCL's XML: what `readXml` makes the same program of, and MSCCL's runtime and rccl execute.
 * @throws {BadProgramError}, {InvalidArgumentError}, {UnknownOptionError}
 * @throws {NotExpressibleError} for what the format can't say, or what the runtime can't hold.
 */
export function writeXml(program: Program, options: WriteXmlOptions): string {
  checkProgram(program);
  checkOptions("options", options, optionNames, 'an object such as { name: "ring" }');
  checkText("name", options.name, "a name");
  for (const bytes of ["minBytes", "maxBytes"] as const) checkInteger(bytes, options[bytes] ?? 0, 0);
  const { collective, protocol, chunksPerSegment, inputSegments, outputSegments } = program;
  const coll = collectiveName(collective);
  if (coll === undefined) throw new NotExpressibleError(`MSCCL has no ${collective}`, "Write another collective.", { collective });
  const ranks = program.ranks.map(({ blocks }, rank) => blocks.map(({ steps }, block) => new BlockWriter(program, rank, block, steps)));
  // Steps that others wait for, under the numbers that they have in the file.
  for (const blocks of ranks) for (const block of blocks) block.publishAwaited(blocks);
  if (!options.ignoreLimits) for (const blocks of ranks) checkLimits(blocks);
  const channels = 1 + Math.max(0, ...ranks.flatMap((blocks) => blocks.map(({ channel }) => channel)));
  const largerBuffer = Math.max(inputSegments, outputSegments) * chunksPerSegment;
  const attributes = {
    name: options.name,
    proto: protocolName[protocol],
    nchannels: channels,
    nchunksperloop: largerBuffer,
    ngpus: ranks.length,
    coll,
    inplace: Number(program.inPlace),
    outofplace: Number(program.outOfPlace),
    minBytes: options.minBytes ?? 0,
    maxBytes: options.maxBytes ?? 0,
    ...(program.root === undefined ? {} : { root: program.root }),
  };
  const gpus = ranks.map((blocks, rank) =>
    element(
      "gpu",
      {
        id: rank,
        i_chunks: bufferChunks(program, rank, "input"),
        o_chunks: bufferChunks(program, rank, "output"),
        s_chunks: bufferChunks(program, rank, "scratch"),
      },
      blocks.map((block) => block.element()),
    ),
  );
  const builder = new XMLBuilder({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: "",
    format: true,
    suppressEmptyNode: true,
  });
  return `${String(builder.build([element("algo", attributes, gpus)])).trim()}\n`;
}

/** In the form that the builder takes. */
function element(name: string, attributes: Attributes, children: readonly object[]): object {
  return { [name]: children, ":@": Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, String(value)])) };
}

interface Line {
  readonly type: string;
  readonly src: LocalChunk;
  readonly dst: LocalChunk;
  readonly count: number;
  readonly waitsFor: Dependency | undefined;
  isPublished: boolean;
}

const nowhere: LocalChunk = { buffer: "input", chunk: 0 };

/** One thread block: its steps as lines, with `nop`s for waits beyond the one that a step can have. */
class BlockWriter {
  readonly channel: number;
  private readonly lines: Line[] = [];
  /** By step of the program: the last of its lines. */
  private readonly lineOf: number[] = [];
  /** By line: whom it waits for, under the number in the file. */
  private readonly waits: (Dependency | undefined)[] = [];
  private readonly send: number;
  private readonly recv: number;

  constructor(
    private readonly program: Program,
    private readonly rank: number,
    private readonly block: number,
    steps: readonly Step[],
  ) {
    this.send = this.only(
      "send",
      steps.map(({ send }) => send?.peer),
    );
    this.recv = this.only(
      "recv",
      steps.map(({ recv }) => recv?.peer),
    );
    this.channel = Math.max(
      0,
      this.only(
        "channel",
        steps.flatMap(({ send, recv }) => [send?.channel, recv?.channel]),
      ),
    );
    for (const step of steps) {
      if (step.send?.remote !== undefined || step.recv?.landing !== undefined || (step.count === 0 && step.op !== "nop")) {
        throw this.refusal(
          `${step.op} works directly in another rank's memory, or is a bare signal`,
          "Build the program without direct access.",
        );
      }
      this.add(step, linesOf(step, this));
    }
  }

  get count(): number {
    return this.lines.length;
  }

  get largest(): number {
    return Math.max(0, ...this.lines.map(({ count }) => count));
  }

  get place(): { rank: number; block: number } {
    return { rank: this.rank, block: this.block };
  }

  /** In every placement that the program allows. */
  isSamePlace(a: LocalChunk, b: LocalChunk): boolean {
    return this.mayShare(a, b) && (a.buffer === b.buffer || !this.program.outOfPlace);
  }

  /** In some placement that the program allows. */
  mayShare(a: LocalChunk, b: LocalChunk): boolean {
    if (a.buffer === b.buffer) return a.chunk === b.chunk;
    const [input, output] = a.buffer === "input" ? [a, b] : [b, a];
    const isPair = input.buffer === "input" && output.buffer === "output";
    return isPair && this.program.inPlace && inPlaceShift(this.program, this.rank) === output.chunk - input.chunk;
  }

  /** Whether another step of the rank reads some of these chunks. */
  isReadElsewhere({ buffer, chunk }: LocalChunk, step: Step): boolean {
    const reads = (other: Step): LocalChunk[] =>
      [other.src, ...(other.sources ?? []), other.op === "reduce" ? other.dst : undefined].filter((read) => read !== undefined);
    return (this.program.ranks[this.rank]?.blocks ?? []).some(({ steps }) =>
      steps.some(
        (other) =>
          other !== step &&
          reads(other).some((read) => read.buffer === buffer && read.chunk < chunk + step.count && chunk < read.chunk + other.count),
      ),
    );
  }

  publishAwaited(blocks: readonly BlockWriter[]): void {
    this.lines.forEach((line, index) => {
      if (line.waitsFor === undefined) return;
      const { block, step } = line.waitsFor;
      const other = blocks[block];
      const at = other?.lineOf[step] ?? -1;
      const awaited = other?.lines[at];
      if (awaited === undefined)
        throw this.refusal(`it waits for block ${block} step ${step}, which isn't there`, "Verify the program first.");
      awaited.isPublished = true;
      this.waits[index] = { block, step: at };
    });
  }

  element(): object {
    const steps = this.lines.map(({ type, src, dst, count, isPublished }, s) => {
      const awaited = this.waits[s];
      return element(
        "step",
        {
          s,
          type,
          srcbuf: bufferName[src.buffer],
          srcoff: src.chunk,
          dstbuf: bufferName[dst.buffer],
          dstoff: dst.chunk,
          cnt: count,
          depid: awaited?.block ?? -1,
          deps: awaited?.step ?? -1,
          hasdep: Number(isPublished),
        },
        [],
      );
    });
    return element("tb", { id: this.block, send: this.send, recv: this.recv, chan: this.channel }, steps);
  }

  refusal(what: string, remedy: string): NotExpressibleError {
    return new NotExpressibleError(`In block ${this.block} of rank ${this.rank}, ${what}`, remedy, this.place);
  }

  private add({ dependsOn = [] }: Step, lines: readonly Omit<Line, "waitsFor" | "isPublished">[]): void {
    // A step waits for one other; for each further one, a nop waits in front of it.
    const first = dependsOn
      .slice(0, -1)
      .map((waitsFor): Line => ({ type: "nop", src: nowhere, dst: nowhere, count: 0, waitsFor, isPublished: false }));
    this.lines.push(
      ...first,
      ...lines.map((line, i) => ({ ...line, waitsFor: i === 0 ? dependsOn.at(-1) : undefined, isPublished: false })),
    );
    this.lineOf.push(this.lines.length - 1);
  }

  /** The one value, or -1 for none. */
  private only(what: string, values: readonly (number | undefined)[]): number {
    const different = [...new Set(values.filter((value) => value !== undefined))];
    if (different.length > 1) {
      throw this.refusal(
        `there are several ${what}s: ${different.join(", ")}`,
        "MSCCL's blocks have one peer each way and one channel; compile the program from the language.",
      );
    }
    return different[0] ?? -1;
  }
}

function linesOf(step: Step, block: BlockWriter): Omit<Line, "waitsFor" | "isPublished">[] {
  const { op, count, src = step.dst ?? nowhere, dst = step.src ?? nowhere } = step;
  if (op !== "multiReduceCopy") return [{ type: opName(op) ?? "nop", src, dst, count }];
  const [destination, ...others] = step.destinations ?? [];
  const [first, ...sources] = step.sources ?? [];
  const isHere = [destination, ...others, first, ...sources].every((ref) => ref?.rank === block.place.rank);
  if (!isHere || destination === undefined || first === undefined || others.length > 0) {
    throw block.refusal("multiReduceCopy reaches other ranks or writes several places", "Build the program without direct access.");
  }
  const re = (src: LocalChunk, dst: LocalChunk) => ({ type: "re", src, dst, count });
  if (!sources.some((source) => block.mayShare(source, destination))) {
    // Where the first operand may be other memory than the result, it is copied; where it is the same, that does no harm.
    const begin = block.isSamePlace(first, destination) ? [] : [{ type: "cpy", src: first, dst: destination, count }];
    return [...begin, ...sources.map((source) => re(source, destination))];
  }
  // The result would overwrite an operand before its turn: the sum gathers where the first operand is, if nobody minds.
  if (first.buffer !== "scratch" || block.isReadElsewhere(first, step)) {
    throw block.refusal("a sum is written over one of its later operands", "Let that be the first operand.");
  }
  return [...sources.map((source) => re(source, first)), { type: "cpy", src: first, dst: destination, count }];
}

function checkLimits(blocks: readonly BlockWriter[]): void {
  const check = (what: string, value: number, most: number, block: BlockWriter | undefined): void => {
    if (value <= most) return;
    throw new NotExpressibleError(
      `${what}: ${value}, and MSCCL's runtime takes ${most}`,
      "Use fewer instances or larger chunks, or set ignoreLimits.",
      {
        ...block?.place,
        value,
        most,
      },
    );
  };
  check(`Rank ${blocks[0]?.place.rank} has too many blocks`, blocks.length, originalLimits.blocks, blocks[0]);
  for (const block of blocks) {
    const name = `block ${block.place.block} of rank ${block.place.rank}`;
    check(`Steps of ${name}`, block.count, originalLimits.steps, block);
    check(`Channels of ${name}`, block.channel + 1, originalLimits.channels, block);
    check(`Chunks of one step of ${name}`, block.largest, originalLimits.count, block);
  }
}
