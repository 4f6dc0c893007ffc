import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AgreedRegistration,
  buildProgram,
  compareRegistrations,
  defaultSelectionTable,
  InvalidArgumentError,
  listAlgorithms,
  messageBytes,
  NoRuleFitsError,
  programDigest,
  registrationDigest,
  type SelectionRequest,
  selectProgram,
  UnsupportedAlgorithmError,
  verifyProgram,
} from "../src/index.js";
import { everyCollective, everyPlacement } from "./support.js";

const shared = { sharedMemory: true };
const apart = { sharedMemory: false };
const request = (over: Partial<SelectionRequest>): SelectionRequest => ({
  collective: "all-reduce",
  ranks: 4,
  inPlace: false,
  bytes: 1024,
  platform: shared,
  ...over,
});

describe("selectProgram", () => {
  it("finds a program that the verifier accepts for every collective, placement, size and platform", () => {
    for (const collective of everyCollective) {
      for (const inPlace of everyPlacement) {
        for (const platform of [shared, apart]) {
          for (const bytes of [0, 8, 8192, 8193, 100_000, 10_000_000]) {
            for (const ranks of collective === "send-recv" ? [2] : [1, 2, 5, 8]) {
              const choice = selectProgram({ collective, inPlace, platform, bytes, ranks });
              const program = buildProgram({ collective, ranks, inPlace, ...choice });
              verifyProgram(program);
              if (!platform.sharedMemory && ranks > 1) expect(program.usesDirect).toBe(false);
            }
          }
        }
      }
    }
  });

  it("reduces small messages in one shot, and larger or in-place ones in two", () => {
    expect(selectProgram(request({ bytes: 8192 })).algorithm).toBe("direct-one-shot");
    expect(selectProgram(request({ bytes: 8193 })).algorithm).toBe("direct-two-shot");
    expect(selectProgram(request({ bytes: 8, inPlace: true })).algorithm).toBe("direct-two-shot");
    expect(selectProgram(request({ bytes: 8, inPlace: "either" })).algorithm).toBe("direct-two-shot");
  });

  it("sends messages where memory isn't shared", () => {
    expect(selectProgram(request({ platform: apart, bytes: 8 }))).toMatchObject({ algorithm: "recursive-doubling", protocol: "ll" });
    expect(selectProgram(request({ platform: apart, bytes: 1 << 24 }))).toMatchObject({ algorithm: "ring", protocol: "simple" });
  });

  it("gives equal choices for equal requests, whoever asks", () => {
    const property = fc.property(
      fc.constantFrom(...everyCollective.filter((name) => name !== "send-recv")),
      fc.integer({ min: 1, max: 300 }),
      fc.nat(1 << 26),
      fc.constantFrom(...everyPlacement),
      fc.boolean(),
      (collective, ranks, bytes, inPlace, sharedMemory) => {
        const ask = () =>
          selectProgram({ collective, ranks, bytes, inPlace, platform: { sharedMemory } }, structuredClone(defaultSelectionTable));
        expect(ask()).toEqual(ask());
      },
    );
    fc.assert(property);
  });

  it("uses the first rule that fits and whose algorithm applies", () => {
    const choice = { algorithm: "ring", protocol: "simple", channels: 2 } as const;
    const table = [
      { collective: "all-reduce", maxRanks: 2, choice: { ...choice, channels: 9 } },
      { collective: "all-reduce", choice: { ...choice, algorithm: "dissemination" } },
      { collective: "all-reduce", choice },
    ] as const;
    expect(selectProgram(request({}), table)).toEqual(choice);
    expect(() => selectProgram(request({ collective: "barrier" }), table)).toThrow(NoRuleFitsError);
  });

  it("refuses what is no request, and a collective that there isn't", () => {
    const platform = { sharedMemory: true };
    const wrong: readonly [string, unknown][] = [
      ["request", undefined],
      ["request.platform", { collective: "all-reduce", ranks: 2, inPlace: false, bytes: 8 }],
      ["collective", { collective: "allreduce", ranks: 2, inPlace: false, bytes: 8, platform }],
      ["collective", { collective: "custom", ranks: 2, inPlace: false, bytes: 8, platform }],
    ];
    for (const [argument, request] of wrong) {
      expect(() => selectProgram(request as SelectionRequest)).toThrow(
        expect.objectContaining({ code: "INVALID_ARGUMENT", facts: expect.objectContaining({ argument }) }),
      );
    }
  });

  it("measures a message by the larger buffer of a rank", () => {
    expect(messageBytes("all-reduce", 4, 10, "float32")).toBe(40);
    expect(messageBytes("all-gather", 4, 10, "float64")).toBe(320);
    expect(messageBytes("reduce-scatter", 4, 10, "bfloat16")).toBe(80);
    expect(messageBytes("barrier", 4, 0, "int8")).toBe(0);
  });
});

describe("buildProgram", () => {
  it.each([
    { ranks: 0 },
    { ranks: 2.5 },
    { ranks: 5000 },
    { root: 4, collective: "reduce" as const },
    { root: 0 },
    { channels: 0 },
    { slotCount: 0 },
    { protocol: "tcp" as never },
    { algorithm: "magic" as never },
    { collective: "custom" as never },
    { collective: "send-recv" as const, algorithm: "point-to-point" as const },
  ])("refuses %j", (over) => {
    expect(() => buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: 4, ...over })).toThrow(InvalidArgumentError);
  });

  it("refuses an algorithm that doesn't apply, and names those that do", () => {
    const build = () => buildProgram({ collective: "gather", algorithm: "ring", ranks: 4 });
    expect(build).toThrow(UnsupportedAlgorithmError);
    expect(build).toThrow("direct, binomial-tree, all-pairs");
    expect(() => buildProgram({ collective: "gather", algorithm: "binomial-tree", ranks: 4, channels: 2 })).toThrow("1 channels");
    expect(() => buildProgram({ collective: "all-reduce", algorithm: "direct-two-shot", ranks: 300 })).toThrow(UnsupportedAlgorithmError);
    expect(listAlgorithms("all-reduce", 300)).not.toContain("direct-two-shot");
  });

  it("makes the same program again for the same options", () => {
    const options = { collective: "all-reduce", algorithm: "double-binary-tree", ranks: 7, channels: 2 } as const;
    expect(programDigest(buildProgram(options))).toBe(programDigest(buildProgram(options)));
  });
});

describe("agreement on a registration", () => {
  const registration: AgreedRegistration = {
    id: 7,
    collective: "all-reduce",
    dataType: "float32",
    count: 100,
    op: "sum",
    ranks: [0, 1, 2],
    choice: { algorithm: "ring", protocol: "simple", channels: 1 },
    program: 0x1234n,
  };
  const changes: Partial<AgreedRegistration>[] = [
    { id: 8 },
    { collective: "reduce" },
    { dataType: "int32" },
    { count: 101 },
    { op: "max" },
    { root: 1 },
    { ranks: [0, 2, 1] },
    { choice: { algorithm: "double-binary-tree", protocol: "simple", channels: 1 } },
    { choice: { algorithm: "ring", protocol: "ll", channels: 1 } },
    { choice: { algorithm: "ring", protocol: "simple", channels: 2 } },
    { program: 0x1235n },
  ];

  it("holds between equal registrations, whatever the order of their properties", () => {
    const { id, ...rest } = registration;
    const reordered = { ...rest, id };
    expect(registrationDigest(reordered)).toBe(registrationDigest(registration));
    expect(compareRegistrations(reordered, registration)).toEqual([]);
  });

  it.each(changes)("fails with %o, and names what differs", (change) => {
    const theirs = { ...registration, ...change };
    expect(registrationDigest(theirs)).not.toBe(registrationDigest(registration));
    const differences = compareRegistrations(registration, theirs);
    expect(differences).toHaveLength(1);
    const [field] = Object.keys(change);
    if (field !== "choice") expect(differences[0]?.field).toBe(field);
    expect(differences[0]?.mine).not.toBe(differences[0]?.theirs);
  });
});
