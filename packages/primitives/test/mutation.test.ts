import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type BuildOptions,
  buildProgram,
  type LocalChunk,
  type Program,
  ProgramError,
  reduceOps,
  type Step,
  takesReduceOp,
  verifyProgram,
} from "../src/index.js";
import { SeededRandom } from "../src/random.js";
import { everyBuild, everyCollective, expectedOutputs, runTrial } from "./support.js";

type StepMutation = (step: Step, random: SeededRandom, program: Program) => Step | undefined;

const shifted = (chunk: LocalChunk | undefined, by: number): LocalChunk | undefined =>
  chunk && { ...chunk, chunk: Math.max(0, chunk.chunk + by) };

/** Slips that a person could make. A step mutation returns undefined where the step has nothing to get wrong. */
const stepMutations: Record<string, StepMutation> = {
  "wrong peer": (step, random, program) => {
    const peer = random.below(program.ranks.length);
    if (step.send) return { ...step, send: { ...step.send, peer } };
    return step.recv && { ...step, recv: { ...step.recv, peer } };
  },
  "wrong source chunk": (step, random) => {
    const src = shifted(step.src, random.below(2) === 0 ? 1 : -1);
    return src && { ...step, src };
  },
  "wrong destination chunk": (step, random) => {
    const dst = shifted(step.dst, random.below(2) === 0 ? 1 : -1);
    return dst && { ...step, dst };
  },
  "wrong buffer": (step, random) => {
    const buffer = (["input", "output", "scratch"] as const)[random.below(3)] ?? "input";
    return step.src && { ...step, src: { ...step.src, buffer } };
  },
  "source left out": (step, random) => {
    const { sources } = step;
    if (sources === undefined || sources.length < 2) return undefined;
    const left = random.below(sources.length);
    return { ...step, sources: sources.filter((_, index) => index !== left) };
  },
  "destination left out": (step, random) => {
    const { destinations } = step;
    if (destinations === undefined || destinations.length < 2) return undefined;
    const left = random.below(destinations.length);
    return { ...step, destinations: destinations.filter((_, index) => index !== left) };
  },
  "reference to another rank": (step, random, program) => {
    const [first, ...others] = step.sources ?? [];
    return first && { ...step, sources: [{ ...first, rank: random.below(program.ranks.length) }, ...others] };
  },
  "missing dependency": ({ dependsOn, ...step }) => (dependsOn ? step : undefined),
  "no landing place": (step) => {
    if (!step.recv?.landing) return undefined;
    const { landing: _, ...recv } = step.recv;
    return { ...step, recv };
  },
  "finish forgotten": ({ finish, ...step }) => (finish === true ? step : undefined),
  "finish too early": (step) => (step.finish === true ? undefined : { ...step, finish: true }),
};

type BlockMutation = (steps: readonly Step[], at: number) => Step[];

const blockMutations: Record<string, BlockMutation> = {
  "step dropped": (steps, at) => steps.filter((_, index) => index !== at),
  "step repeated": (steps, at) => steps.flatMap((step, index) => (index === at ? [step, step] : [step])),
  "steps exchanged": (steps, at) => {
    const next = (at + 1) % steps.length;
    return steps.map((step, index) => (index === at ? (steps[next] ?? step) : index === next ? (steps[at] ?? step) : step));
  },
};

type ProgramMutation = (program: Program) => Program;

const programMutations: Record<string, ProgramMutation> = {
  "fewer slots": (program) => ({ ...program, slotCount: 1 }),
  "signals dropped": (program) => ({
    ...program,
    ranks: program.ranks.map((rank) => ({
      ...rank,
      blocks: rank.blocks.map(({ steps }) => ({ steps: steps.filter(({ op, count }) => op === "nop" || count > 0) })),
    })),
  }),
  "claimed to work in place": (program) => ({ ...program, inPlace: true }),
};

/** Where only a few programs can go wrong in some way, look at those. */
const buildsWorthTrying: Record<string, (options: BuildOptions) => boolean> = {
  "missing dependency": ({ algorithm }) => algorithm === "double-binary-tree",
  "signals dropped": ({ algorithm, inPlace }) => algorithm === "dissemination" || (algorithm.startsWith("direct") && inPlace !== false),
  "claimed to work in place": (options) => !buildProgram(options).inPlace,
};

function mutate(program: Program, name: string, random: SeededRandom): Program | undefined {
  const programMutation = programMutations[name];
  if (programMutation !== undefined) return programMutation(program);
  const stepMutation = stepMutations[name];
  const places = program.ranks.flatMap(({ blocks }, rank) =>
    blocks.flatMap(({ steps }, block) => steps.map((target, at) => ({ rank, block, steps, target, at }))),
  );
  // Where little can go wrong in this way, look at those steps only.
  const candidates = name === "missing dependency" ? places.filter(({ target }) => target.dependsOn) : places;
  const place = candidates[random.below(candidates.length)];
  if (place === undefined) return undefined;
  const { rank, block, steps, target, at } = place;
  let mutated = blockMutations[name]?.(steps, at);
  if (stepMutation !== undefined) {
    const changed = stepMutation(target, random, program);
    if (changed === undefined) return undefined;
    mutated = steps.map((step, index) => (index === at ? changed : step));
  }
  if (mutated === undefined) return undefined;
  const replacement = mutated;
  return {
    ...program,
    ranks: program.ranks.map((rankProgram, r) =>
      r !== rank
        ? rankProgram
        : { ...rankProgram, blocks: rankProgram.blocks.map((old, b) => (b === block ? { steps: replacement } : old)) },
    ),
  };
}

/** undefined if the program is accepted. */
function refusalOf(program: Program): ProgramError | undefined {
  try {
    verifyProgram(program);
    return undefined;
  } catch (error) {
    if (error instanceof ProgramError) return error;
    throw error;
  }
}

function* trialsOf(program: Program, seed: number) {
  const random = new SeededRandom(seed);
  for (let schedule = 0; schedule < 4; schedule += 1) {
    yield {
      count: 1 + random.below(3 * program.ranks.length),
      op: takesReduceOp(program.collective) ? (reduceOps[random.below(reduceOps.length)] ?? "sum") : ("sum" as const),
      seed: random.next(),
      tileElements: 1 + random.below(3),
      inPlace: program.ranks.map(() => (program.outOfPlace ? program.inPlace && schedule % 2 === 1 : true)),
    };
  }
}

const everyMutation = [stepMutations, blockMutations, programMutations].flatMap((mutations) => Object.keys(mutations));
const allBuilds = [2, 3, 4, 5, 6].flatMap((ranks) => everyCollective.flatMap((collective) => [...everyBuild(collective, ranks, 2)]));

describe.each(everyMutation)("a program with this slip: %s", (name) => {
  const builds = allBuilds.filter(buildsWorthTrying[name] ?? (() => true));

  it("is refused, or computes the right result all the same", () => {
    const outcomes = { refused: 0, accepted: 0 };
    const property = fc.property(fc.nat(builds.length - 1), fc.nat(), (index, seed) => {
      const options = builds[index];
      if (options === undefined) return;
      const mutant = mutate(buildProgram(options), name, new SeededRandom(seed));
      if (mutant === undefined) return;
      const refusal = refusalOf(mutant);
      if (refusal === undefined) {
        outcomes.accepted += 1;
        for (const trial of trialsOf(mutant, seed)) {
          const result = runTrial(mutant, trial);
          const context = JSON.stringify({ options, trial });
          expect(result.ok, context).toBe(true);
          if (result.ok) expect(result.outputs, context).toEqual(expectedOutputs(mutant, trial));
        }
        return;
      }
      outcomes.refused += 1;
      // A cycle isn't a suspicion: the program hangs in any schedule.
      if (refusal.code === "CYCLIC_PROGRAM") {
        for (const trial of trialsOf(mutant, seed))
          expect(runTrial(mutant, trial), JSON.stringify({ options, trial })).toMatchObject({ ok: false, reason: "deadlock" });
      }
    });
    fc.assert(property, { numRuns: 300 });
    expect(outcomes.refused).toBeGreaterThan(0);
  });
});
