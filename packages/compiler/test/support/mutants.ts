import type { LocalChunk, Program, Step } from "@dfccl/primitives";
import type { Seeded } from "./seeded.js";

/** Changes one step of a block; undefined where there is nothing to get wrong in this way. */
type Slip = (steps: readonly Step[], at: number, random: Seeded, program: Program) => readonly Step[] | undefined;

const replaced = (steps: readonly Step[], at: number, step: Step | undefined): readonly Step[] | undefined =>
  step && steps.map((old, index) => (index === at ? step : old));
const moved = (chunk: LocalChunk | undefined, by: number): LocalChunk | undefined =>
  chunk && { ...chunk, chunk: Math.max(0, chunk.chunk + by) };

const slips: Readonly<Record<string, Slip>> = {
  "dropped step": (steps, at) => steps.filter((_, index) => index !== at),
  "steps exchanged": (steps, at) => {
    const other = steps[at + 1];
    const one = steps[at];
    return other && one && steps.map((step, index) => (index === at ? other : index === at + 1 ? one : step));
  },
  "swapped peer": (steps, at, random, program) => {
    const step = steps[at];
    const peer = random.below(program.ranks.length);
    if (step?.send) return replaced(steps, at, { ...step, send: { ...step.send, peer } });
    return step?.recv && replaced(steps, at, { ...step, recv: { ...step.recv, peer } });
  },
  "wrong offset": (steps, at, random) => {
    const step = steps[at];
    const by = random.below(2) * 2 - 1;
    const src = moved(step?.src, by);
    const dst = moved(step?.dst, by);
    if (step && src && (random.chance(0.5) || !dst)) return replaced(steps, at, { ...step, src });
    return step && dst && replaced(steps, at, { ...step, dst });
  },
  "missing dependency": (steps, at) => {
    const { dependsOn, ...step } = steps[at] ?? { op: "nop", count: 0 };
    return dependsOn && replaced(steps, at, step);
  },
};

/** Slips of which the verifier must let none pass that changes a result. */
export const mutations = [...Object.keys(slips), "fewer slots"];

/** The program with one slip somewhere, or undefined if it has no place for that one. */
export function mutant(program: Program, mutation: string, random: Seeded): Program | undefined {
  if (mutation === "fewer slots") return program.slotCount > 1 ? { ...program, slotCount: 1 } : undefined;
  const slip = slips[mutation];
  const places = program.ranks.flatMap(({ blocks }, rank) =>
    blocks.flatMap(({ steps }, block) => steps.map((step, at) => ({ rank, block, step, at }))),
  );
  const fitting = mutation === "missing dependency" ? places.filter(({ step }) => step.dependsOn !== undefined) : places;
  if (slip === undefined || fitting.length === 0) return undefined;
  const { rank, block, at } = random.pick(fitting);
  const changed = slip(program.ranks[rank]?.blocks[block]?.steps ?? [], at, random, program);
  if (changed === undefined) return undefined;
  return {
    ...program,
    ranks: program.ranks.map((own, r) =>
      r === rank ? { ...own, blocks: own.blocks.map((old, b) => (b === block ? { steps: changed } : old)) } : own,
    ),
  };
}
