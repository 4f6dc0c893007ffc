import { type Dependency, type LocalChunk, type Program, type Step, stepOrder } from "@dfccl/primitives";
import { Places } from "../language/signature.js";
import { UnsupportedXmlError } from "./errors.js";

/** A step as the file has it. */
export interface WrittenStep {
  readonly step: Step;
  readonly line: number;
  /** Others may wait for it. */
  readonly isPublished: boolean;
}

/**
 * From the file's names to a program's: waits of `nop`s go to the steps behind them; written data is named `output`, and
 * untouched data `input`, whichever of the two names for shared memory the file uses.
 * @param written - `[rank][block][step]`, as in the program.
 */
export function nameRawData(program: Program, written: readonly (readonly (readonly WrittenStep[])[])[]): Program {
  const namer = new Namer(program, written);
  // In place, a step may say `i` for what it writes; seen as output, it has the form that the order wants.
  const draft = withSteps(program, (step, rank, block, index) =>
    step.dst ? { ...step, dst: namer.writable(step.dst, rank, written[rank]?.[block]?.[index]?.line ?? 0) } : step,
  );
  const names = new Map<string, Step>();
  for (const { rank, block, step } of stepOrder(draft)) {
    const one = written[rank]?.[block]?.[step];
    if (one !== undefined) names.set(`${rank} ${block} ${step}`, namer.name(one, rank));
  }
  const named = withSteps(program, (step, rank, block, index) => names.get(`${rank} ${block} ${index}`) ?? step);
  return withoutNops(named, written);
}

class Namer {
  private readonly places: Places;
  private readonly touched = new Set<string>();

  constructor(
    private readonly program: Program,
    written: readonly (readonly (readonly WrittenStep[])[])[],
  ) {
    const { collective, chunksPerSegment, inputSegments, outputSegments } = program;
    const ranks = program.ranks.length;
    this.places = new Places({
      name: "",
      collective,
      ranks,
      root: program.root,
      chunksPerSegment,
      inputSegments,
      outputSegments,
      inPlace: program.inPlace,
      writable: [],
      postcondition: () => undefined,
    });
    written.forEach((blocks, rank) => {
      for (const block of blocks) for (const one of block) this.checkWaits(one, rank, written);
    });
  }

  name({ step, line }: WrittenStep, rank: number): Step {
    const src = step.src && this.readable(step.src, step.count, rank, line);
    const own = step.op === "reduce" && step.dst ? this.readable(step.dst, step.count, rank, line) : undefined;
    const dst = step.dst && this.writable(step.dst, rank, line);
    if (step.dst) this.mark(step.dst, step.count, rank);
    if (own !== undefined && src !== undefined && dst !== undefined && own.buffer !== dst.buffer) {
      // The first reduction into a chunk of raw data: read it as such.
      const { op: _, src: __, dst: ___, ...rest } = step;
      return { ...rest, op: "multiReduceCopy", sources: [own, src].map((chunk) => ({ rank, ...chunk })), destinations: [{ rank, ...dst }] };
    }
    return { ...step, ...(src && { src }), ...(dst && { dst }) };
  }

  writable(chunk: LocalChunk, rank: number, line: number): LocalChunk {
    if (chunk.buffer === "scratch") return chunk;
    const output = this.places.outputAt(rank, this.places.placeOf(rank, chunk.buffer, chunk.chunk));
    if (output === undefined) {
      throw new UnsupportedXmlError(
        `rank ${rank} writes input chunk ${chunk.chunk}, which ${this.program.inPlace ? "in place is no output" : "out of place is the caller's"}`,
        "Let it write to o or s.",
        { line, rank, chunk: chunk.chunk },
      );
    }
    return { buffer: "output", chunk: output };
  }

  private readable(chunk: LocalChunk, count: number, rank: number, line: number): LocalChunk {
    if (chunk.buffer === "scratch") return chunk;
    const place = this.places.placeOf(rank, chunk.buffer, chunk.chunk);
    const input = this.places.inputAt(rank, place);
    const output = this.places.outputAt(rank, place);
    let touched = 0;
    for (let offset = 0; offset < count; offset += 1) if (this.touched.has(`${rank} ${place.buffer} ${place.index + offset}`)) touched += 1;
    if (touched > 0 && touched < count) {
      throw new UnsupportedXmlError(
        `rank ${rank} reads ${count} chunks at once of which ${touched} are written by then and the others still raw`,
        "Let it read the two kinds in two steps.",
        { line, rank, chunk: chunk.chunk, count, touched },
      );
    }
    const named: LocalChunk =
      touched === 0 && input !== undefined ? { buffer: "input", chunk: input } : { buffer: "output", chunk: output ?? chunk.chunk };
    if (this.program.inPlace && this.program.outOfPlace && named.buffer !== chunk.buffer) {
      throw new UnsupportedXmlError(
        `rank ${rank} reads ${chunk.buffer} chunk ${chunk.chunk}, which means other data in place than out of place`,
        'Say inplace="1" outofplace="0", or name raw data i and written data o.',
        { line, rank, chunk: chunk.chunk },
      );
    }
    return named;
  }

  private mark({ buffer, chunk }: LocalChunk, count: number, rank: number): void {
    const place = this.places.placeOf(rank, buffer, chunk);
    for (let offset = 0; offset < count; offset += 1) this.touched.add(`${rank} ${place.buffer} ${place.index + offset}`);
  }

  private checkWaits({ step, line }: WrittenStep, rank: number, written: readonly (readonly (readonly WrittenStep[])[])[]): void {
    for (const { block, step: at } of step.dependsOn ?? []) {
      const awaited = written[rank]?.[block]?.[at];
      const facts = { line, rank, block, step: at };
      if (awaited === undefined)
        throw new UnsupportedXmlError(`it waits for block ${block} step ${at}, which isn't there`, "Name a step.", facts);
      if (!awaited.isPublished) {
        throw new UnsupportedXmlError(
          `it waits for block ${block} step ${at}, which tells nobody that it is done`,
          'Give that step hasdep="1".',
          facts,
        );
      }
    }
  }
}

/** Waits of a `nop` are those of the step behind it; who waits for a `nop` waits for what was before it, and for its waits. */
function withoutNops(program: Program, written: readonly (readonly (readonly WrittenStep[])[])[]): Program {
  const ranks = program.ranks.map((rank, number) => {
    const newIndex = rank.blocks.map(({ steps }) => {
      let next = 0;
      return steps.map(({ op }) => (op === "nop" ? next : next++));
    });
    const resolved = new Map<string, Dependency[]>();
    const resolve = (dependency: Dependency): Dependency[] => {
      const key = `${dependency.block} ${dependency.step}`;
      const known = resolved.get(key) ?? latestOfEach(resolveAnew(dependency));
      resolved.set(key, known);
      return known;
    };
    const resolveAnew = ({ block, step }: Dependency): Dependency[] => {
      const awaited = written[number]?.[block]?.[step]?.step;
      const index = newIndex[block]?.[step] ?? 0;
      if (awaited?.op !== "nop") return [{ block, step: index }];
      const before = index > 0 ? [{ block, step: index - 1 }] : [];
      return [...before, ...nopsBefore(rank.blocks[block]?.steps ?? [], step + 1).flatMap(resolve)];
    };
    const blocks = rank.blocks.map(({ steps }, own) => ({
      steps: steps.flatMap((step, at) => {
        if (step.op === "nop") return [];
        const { dependsOn = [], ...rest } = step;
        const waits = latestOfEach([...nopsBefore(steps, at), ...dependsOn].flatMap(resolve).filter(({ block }) => block !== own));
        return [waits.length > 0 ? { ...rest, dependsOn: waits } : rest];
      }),
    }));
    return { ...rank, blocks: blocks.length > 0 ? blocks : [{ steps: [] }] };
  });
  return { ...program, ranks };
}

/** Waits of the row of `nop`s that ends before a step. */
function nopsBefore(steps: readonly Step[], at: number): Dependency[] {
  const waits: Dependency[] = [];
  for (let index = at - 1; steps[index]?.op === "nop"; index -= 1) waits.push(...(steps[index]?.dependsOn ?? []));
  return waits;
}

function latestOfEach(dependencies: readonly Dependency[]): Dependency[] {
  const latest = new Map<number, number>();
  for (const { block, step } of dependencies) latest.set(block, Math.max(step, latest.get(block) ?? 0));
  return [...latest].map(([block, step]) => ({ block, step })).sort((a, b) => a.block - b.block);
}

function withSteps(program: Program, map: (step: Step, rank: number, block: number, index: number) => Step): Program {
  return {
    ...program,
    ranks: program.ranks.map((rank, number) => ({
      ...rank,
      blocks: rank.blocks.map(({ steps }, block) => ({ steps: steps.map((step, index) => map(step, number, block, index)) })),
    })),
  };
}
