import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { signal } from "../src/builders/step-factory.js";
import {
  bufferKinds,
  buildProgram,
  ConnectionSharedError,
  createProgram,
  decodeProgram,
  encodeAllRanks,
  encodeProgram,
  encodeRank,
  InvalidArgumentError,
  MalformedProgramError,
  maxSlotChunks,
  ops,
  programDigest,
  programLayout,
} from "../src/index.js";
import { everyBuild, everyCollective } from "./support.js";

const samples = [2, 3, 5].flatMap((ranks) => everyCollective.flatMap((collective) => [...everyBuild(collective, ranks, 2)]));
const someProgram = () => buildProgram({ collective: "all-reduce", algorithm: "double-binary-tree", ranks: 5 });

/** Decodes; whatever comes back must be what the bytes say, and whatever is thrown must be the typed error. */
function decodeHostile(bytes: Uint8Array): "decoded" | "refused" {
  try {
    expect(encodeRank(decodeProgram(bytes))).toEqual(bytes);
    return "decoded";
  } catch (error) {
    if (!(error instanceof MalformedProgramError)) throw error;
    const { offset } = error.facts as { offset: number };
    expect(offset).toBeGreaterThanOrEqual(0);
    expect(offset).toBeLessThanOrEqual(Math.max(bytes.length, 96));
    return "refused";
  }
}

describe("the binary form of a program", () => {
  it("says everything that the program says, for every builder", () => {
    for (const options of samples) {
      const program = buildProgram(options);
      const digest = programDigest(program);
      const { ranks, ...facts } = program;
      encodeAllRanks(program).forEach((bytes, rank) => {
        const maxStepCount = Math.max(...ranks.map(maxSlotChunks));
        expect(decodeProgram(bytes)).toEqual({ ...facts, rank, rankCount: ranks.length, digest, maxStepCount, program: ranks[rank] });
      });
    }
  });

  it("cuts chunks into the same tiles on every rank, though only some ranks move several chunks at once", () => {
    const program = buildProgram({ collective: "gather", algorithm: "binomial-tree", ranks: 5 });
    expect(new Set(program.ranks.map(maxSlotChunks)).size).toBeGreaterThan(1);
    expect(new Set(encodeAllRanks(program).map((bytes) => decodeProgram(bytes).maxStepCount)).size).toBe(1);
  });

  it("is the same for the same program, and starts records at multiples of 16 bytes", () => {
    for (const options of samples) {
      const first = encodeAllRanks(buildProgram(options));
      expect(encodeAllRanks(buildProgram(options))).toEqual(first);
      for (const bytes of first) expect(bytes.length % 16).toBe(0);
    }
  });

  it("carries one digest for all ranks, and another one for another program", () => {
    const digests = new Map<bigint, string>();
    for (const options of samples) {
      const program = buildProgram(options);
      const digest = programDigest(program);
      for (let rank = 0; rank < program.ranks.length; rank += 1) {
        expect(decodeProgram(encodeProgram(program, rank)).digest).toBe(digest);
      }
      const text = JSON.stringify(program);
      expect(digests.get(digest) ?? text).toBe(text);
      digests.set(digest, text);
    }
  });

  it("hashes as FNV-1a 64 does", () => {
    // The digest of a program is that of its ranks' bytes with the digest field 0: computed here with BigInt.
    const program = someProgram();
    let expected = 0xcbf29ce484222325n;
    for (const bytes of encodeAllRanks(program)) {
      const blank = Uint8Array.from(bytes).fill(0, 80, 88);
      for (const byte of blank) expected = ((expected ^ BigInt(byte)) * 0x100000001b3n) & 0xffff_ffff_ffff_ffffn;
    }
    expect(programDigest(program)).toBe(expected);
  });

  it("has the record sizes that the engine asserts", () => {
    const sizes = Object.fromEntries(Object.entries(programLayout).map(([name, { size }]) => [name, size]));
    expect(sizes).toEqual({
      ProgramHeader: 96,
      BlockRecord: 16,
      ConnectionRecord: 16,
      StepRecord: 64,
      ChunkRefRecord: 16,
      DependencyRecord: 16,
    });
    for (const { fields } of Object.values(programLayout)) {
      for (const { offset, size } of Object.values(fields)) expect(offset % size).toBe(0);
    }
  });

  it("says how many chunks a slot must hold, and is refused with fewer than its own steps need", () => {
    const bytes = encodeProgram(buildProgram({ collective: "gather", algorithm: "binomial-tree", ranks: 8 }), 4);
    const view = new DataView(bytes.buffer);
    const { offset } = programLayout.ProgramHeader.fields.maxStepCount;
    expect(view.getUint32(offset, true)).toBe(4);
    view.setUint32(offset, 3, true);
    expect(() => decodeProgram(bytes)).toThrow(MalformedProgramError);
  });

  it("keeps the dependencies between blocks", () => {
    const [tree] = encodeAllRanks(buildProgram({ collective: "all-reduce", algorithm: "double-binary-tree", ranks: 2 }));
    const { program } = decodeProgram(tree ?? new Uint8Array());
    expect(program.blocks.some(({ steps }) => steps.some(({ dependsOn }) => dependsOn !== undefined))).toBe(true);
  });

  it("can't be made of a program in which two blocks share a connection", () => {
    const shared = createProgram({
      collective: "barrier",
      chunksPerSegment: 1,
      inPlace: true,
      outOfPlace: true,
      ranks: [{ blocks: [[signal({ peer: 1, channel: 0 })], [signal({ peer: 1, channel: 0 })]] }, { blocks: [[]] }],
    });
    expect(() => encodeProgram(shared, 0)).toThrow(ConnectionSharedError);
    expect(() => encodeProgram(shared, 2)).toThrow(InvalidArgumentError);
  });
});

describe("decoding hostile bytes", () => {
  it("refuses random bytes with the typed error", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => decodeHostile(bytes) === "refused"),
      { numRuns: 500 },
    );
  });

  it("refuses random bytes behind a right beginning, or reads exactly what they say", () => {
    const [magic] = encodeAllRanks(someProgram());
    const property = fc.property(fc.uint8Array({ minLength: 84, maxLength: 600 }), (tail) => {
      const bytes = Uint8Array.of(...(magic ?? []).slice(0, 12), ...tail);
      new DataView(bytes.buffer).setUint32(8, bytes.length, true);
      decodeHostile(bytes);
    });
    fc.assert(property, { numRuns: 500 });
  });

  it("survives every single flipped bit: each is refused or means exactly what it says", () => {
    const bytes = encodeProgram(someProgram(), 2);
    const outcomes = { decoded: 0, refused: 0 };
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Uint8Array.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      outcomes[decodeHostile(flipped)] += 1;
    }
    // Both happen: a flipped chunk number is another program, a flipped reserved bit is none.
    expect(outcomes.decoded).toBeGreaterThan(0);
    expect(outcomes.refused).toBeGreaterThan(0);
  });

  it("survives several flips, cuts and repetitions at once", () => {
    const images = samples.slice(0, 40).flatMap((options) => encodeAllRanks(buildProgram(options)));
    const property = fc.property(
      fc.nat(images.length - 1),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }),
      fc.nat(),
      (index, edits, cut) => {
        let bytes = Uint8Array.from(images[index] ?? []);
        for (const [at, value] of edits) bytes[at % bytes.length] = value;
        if (cut % 3 === 0) bytes = bytes.slice(0, cut % (bytes.length + 1));
        if (cut % 3 === 1) bytes = Uint8Array.of(...bytes, ...bytes.slice(cut % bytes.length));
        decodeHostile(bytes);
      },
    );
    fc.assert(property, { numRuns: 2000 });
  });

  it("refuses every truncation", () => {
    const bytes = encodeProgram(someProgram(), 0);
    for (let length = 0; length < bytes.length; length += 1) expect(decodeHostile(bytes.slice(0, length))).toBe("refused");
  });

  it("refuses a count that would need more memory than there are bytes, without allocating it", () => {
    const bytes = encodeProgram(someProgram(), 0);
    for (const field of ["blockCount", "connectionCount", "stepCount", "refCount", "dependencyCount"] as const) {
      const huge = Uint8Array.from(bytes);
      new DataView(huge.buffer).setUint32(programLayout.ProgramHeader.fields[field].offset, 0xffff_ffff, true);
      expect(decodeHostile(huge)).toBe("refused");
    }
  });

  it("refuses what are no bytes", () => {
    for (const nothing of [undefined, null, "dfccl", 5, [1, 2]]) {
      expect(() => decodeProgram(nothing as never)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    }
  });

  it("reads bytes that begin in the middle of a larger buffer", () => {
    const bytes = encodeProgram(someProgram(), 1);
    const larger = new Uint8Array(bytes.length + 7);
    larger.set(bytes, 3);
    expect(decodeProgram(larger.subarray(3, 3 + bytes.length)).rank).toBe(1);
  });

  it("names every instruction and buffer that the codes stand for", () => {
    expect(ops).toHaveLength(10);
    expect(bufferKinds).toEqual(["input", "output", "scratch"]);
  });
});
