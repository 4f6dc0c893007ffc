import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  annotateFinish,
  bufferKinds,
  buildProgram,
  collectives,
  opShapeOf,
  ops,
  type Program,
  ProgramError,
  type Step,
  verifyProgram,
} from "../src/index.js";

// Mostly numbers that a program could hold, so that the fuzz gets past the first checks; some that it couldn't.
const whole = fc.oneof({ weight: 20, arbitrary: fc.nat(3) }, fc.constantFrom(-1, 0.5, NaN, Infinity, 2 ** 32, 2 ** 53, 1e300));
const small = fc.oneof({ weight: 20, arbitrary: fc.integer({ min: 1, max: 3 }) }, whole);
const chunk = fc.record({ buffer: fc.constantFrom(...bufferKinds), chunk: whole });
const ref = fc.record({ rank: whole, buffer: fc.constantFrom(...bufferKinds), chunk: whole });
const end = fc.record({ peer: whole, channel: fc.oneof({ weight: 10, arbitrary: fc.constant(0) }, whole) });
const wildStep = fc.record(
  {
    op: fc.constantFrom(...ops),
    count: small,
    src: chunk,
    dst: chunk,
    send: fc.oneof(end, fc.record({ peer: whole, channel: whole, remote: chunk })),
    recv: fc.oneof(end, fc.record({ peer: whole, channel: whole, landing: chunk })),
    sources: fc.array(ref, { maxLength: 3 }),
    destinations: fc.array(ref, { maxLength: 3 }),
    dependsOn: fc.array(fc.record({ block: whole, step: whole }), { maxLength: 2 }),
    finish: fc.boolean(),
  },
  { requiredKeys: ["op", "count"] },
);
/** A step with just the operands that its instruction takes. */
const plausibleStep = fc.constantFrom(...ops).chain((op) => {
  const shape = opShapeOf(op);
  const isMulti = op === "multiReduceCopy";
  const refs = fc.array(ref, { minLength: 1, maxLength: 3 });
  return fc.record({
    op: fc.constant(op),
    count: op === "nop" ? fc.constant(0) : fc.constant(1),
    ...(shape.hasSource ? { src: chunk } : {}),
    ...(shape.hasDestination ? { dst: chunk } : {}),
    ...(shape.sends ? { send: end } : {}),
    ...(shape.receives ? { recv: end } : {}),
    ...(isMulti ? { sources: refs, destinations: refs } : {}),
  });
});
const step: fc.Arbitrary<Step> = fc.oneof({ weight: 4, arbitrary: plausibleStep }, wildStep);
const program: fc.Arbitrary<Program> = fc
  .record({
    collective: fc.constantFrom(...collectives),
    protocol: fc.constantFrom("simple", "ll", "ll128" as const),
    root: fc.option(whole, { nil: -1 }),
    chunksPerSegment: small,
    inputSegments: small,
    outputSegments: small,
    slotCount: small,
    inPlace: fc.boolean(),
    outOfPlace: fc.boolean(),
    usesDirect: fc.boolean(),
    stepByStep: fc.boolean(),
    ranks: fc.array(
      fc.record({ scratchChunks: whole, blocks: fc.array(fc.record({ steps: fc.array(step, { maxLength: 4 }) }), { maxLength: 3 }) }),
      { maxLength: 4 },
    ),
  })
  .map(({ root, ...rest }) => (root === -1 ? rest : { ...rest, root }));

function verdict(check: () => unknown): string {
  try {
    check();
    return "accepted";
  } catch (error) {
    if (error instanceof ProgramError) return error.code;
    throw error;
  }
}

describe("the verifier", () => {
  it("gives a typed verdict on any nonsense", () => {
    const property = fc.property(program, (nonsense) => {
      verdict(() => verifyProgram(nonsense));
      verdict(() => annotateFinish(nonsense));
    });
    fc.assert(property, { numRuns: 3000 });
  });

  it("gives a typed verdict on nonsense among the steps of a right program", () => {
    const right = buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: 3, channels: 2 });
    const seen = new Set<string>();
    const property = fc.property(fc.array(fc.tuple(fc.nat(2), fc.nat(1), fc.nat(3), step), { minLength: 1, maxLength: 3 }), (edits) => {
      let edited: Program = right;
      for (const [rank, block, at, nonsense] of edits) {
        const ranks = edited.ranks.map((old, r) =>
          r !== rank
            ? old
            : { ...old, blocks: old.blocks.map(({ steps }, b) => (b === block ? { steps: steps.with(at, nonsense) } : { steps })) },
        );
        edited = { ...edited, ranks };
      }
      seen.add(verdict(() => verifyProgram(edited)));
    });
    fc.assert(property, { numRuns: 2000 });
    expect(seen.size).toBeGreaterThan(3);
  });

  it("refuses what would keep it busy for ever", () => {
    const doubling = Array.from({ length: 2000 }, () => ({
      op: "multiReduceCopy" as const,
      count: 1,
      sources: [
        { rank: 0, buffer: "output" as const, chunk: 0 },
        { rank: 0, buffer: "output" as const, chunk: 0 },
      ],
      destinations: [{ rank: 0, buffer: "output" as const, chunk: 0 }],
    }));
    const start = {
      op: "copy" as const,
      count: 1,
      src: { buffer: "input" as const, chunk: 0 },
      dst: { buffer: "output" as const, chunk: 0 },
    };
    const base = buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: 1 });
    // 2^2000 copies of one input: counted only as far as it matters.
    expect(verdict(() => verifyProgram({ ...base, ranks: [{ scratchChunks: 0, blocks: [{ steps: [start, ...doubling] }] }] }))).toBe(
      "POSTCONDITION",
    );
    expect(verdict(() => verifyProgram({ ...base, chunksPerSegment: 2 ** 31 }))).toBe("BAD_PROGRAM");
    const all = { ...start, count: 1 << 20 };
    const busy = { ...base, chunksPerSegment: 1 << 20, ranks: [{ scratchChunks: 0, blocks: [{ steps: Array(64).fill(all) }] }] };
    expect(verdict(() => verifyProgram(busy))).toBe("BAD_PROGRAM");
  });
});
