import {
  type BuildableCollective,
  buildProgram,
  InvalidArgumentError,
  inputSegmentsOf,
  listAlgorithms,
  outputSegmentsOf,
  type Program,
} from "@dfccl/primitives";
import type { RunnableProgram } from "./run-on-engine.js";

/** A program that takes part in a comparison. */
export interface Contender {
  readonly name: string;
  readonly program: Program;
  /** Beyond, it takes no part: LL is for small messages, and would take most of the time. */
  readonly largestBytes: number;
}

/** On CPUs; on GPUs it may take some more, because there a flag in each word costs less than an order between two. */
const largestOfLl = { cpus: 1 << 16, gpus: 1 << 20 };

/**
 * Programs to compare, each under a name of its own.
 * @throws {InvalidArgumentError} if they aren't for the same collective on the same ranks.
 */
export function contendersOf(programs: readonly RunnableProgram[], place: keyof typeof largestOfLl = "cpus"): Contender[] {
  const [first] = programs;
  if (first === undefined) throw new InvalidArgumentError("programs", programs, "at least one program");
  const { collective, root, inputSegments, outputSegments } = first.program;
  const ranks = first.program.ranks.length;
  for (const { name, program } of programs) {
    const isAlike =
      program.collective === collective &&
      program.ranks.length === ranks &&
      program.root === root &&
      (collective !== "custom" || (program.inputSegments === inputSegments && program.outputSegments === outputSegments));
    if (!isAlike) throw new InvalidArgumentError("programs", name, `programs for ${collective} on ${ranks} ranks, as ${first.name} is`);
  }
  const known = new Map<string, number>();
  return programs.map(({ name, program }): Contender => {
    const count = (known.get(name) ?? 0) + 1;
    known.set(name, count);
    const isSmall = place === "gpus" && program.protocol === "ll";
    return { name: count === 1 ? name : `${name} (${count})`, program, largestBytes: isSmall ? largestOfLl.gpus : Infinity };
  });
}

/** The built-in algorithms for a contender's collective on as many ranks; none for a custom one. */
export function builtInsBeside({ program: { collective, ranks, root } }: Contender): Contender[] {
  return collective === "custom" ? [] : builtIns(collective, ranks.length, root);
}

function builtIns(collective: BuildableCollective, ranks: number, root: number | undefined): Contender[] {
  return listAlgorithms(collective, ranks, "either").flatMap((algorithm) =>
    (algorithm.startsWith("direct") ? (["simple"] as const) : (["simple", "ll"] as const)).map((protocol): Contender => {
      const program = buildProgram({ collective, algorithm, ranks, protocol, inPlace: "either", ...(root === undefined ? {} : { root }) });
      return {
        name: `built-in ${algorithm}${protocol === "simple" ? "" : ` ${protocol}`}`,
        program,
        largestBytes: protocol === "ll" ? largestOfLl.cpus : Infinity,
      };
    }),
  );
}

/** Elements of a segment, so that a rank's larger buffer of float32 has at least so many bytes, in whole chunks for custom ones. */
export function countFor(program: Program, bytes: number): number {
  const { collective } = program;
  const ranks = program.ranks.length;
  const segments =
    collective === "custom"
      ? Math.max(program.inputSegments, program.outputSegments)
      : Math.max(inputSegmentsOf(collective, ranks), outputSegmentsOf(collective, ranks));
  const unit = collective === "custom" ? program.chunksPerSegment : 1;
  return Math.max(1, Math.ceil(bytes / 4 / Math.max(1, segments) / unit)) * unit;
}
