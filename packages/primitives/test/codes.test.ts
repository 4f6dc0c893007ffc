import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  byteSizeOf,
  chunkCapacity,
  chunkLength,
  chunkOffset,
  collectiveCode,
  collectiveFromCode,
  collectiveShape,
  collectives,
  DfcclError,
  dataTypeCode,
  dataTypeFromCode,
  dataTypes,
  holdsRawBits,
  InvalidArgumentError,
  inputSegmentsOf,
  isCollective,
  isDataType,
  isProtocol,
  isReduceOp,
  opCode,
  ops,
  outputSegmentsOf,
  programLayout,
  protocolCode,
  protocolFactsOf,
  protocolFromCode,
  protocols,
  reduceOpCode,
  reduceOpFromCode,
  reduceOps,
  tileCount,
  typedArrayOf,
  wireBytes,
} from "../src/index.js";

const header = (name: string): string =>
  readFileSync(new URL(`../../../native/src/${name}`, import.meta.url), "utf8").replaceAll(/\/\/.*$/gm, "");

/** Enumerators of a C++ enum, in order. */
function enumerators(source: string, name: string): string[] {
  const body = new RegExp(`enum class ${name} : \\w+ \\{([^}]*)\\}`).exec(source)?.[1] ?? "";
  return body
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

const camelCase = (name: string): string => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

describe("codes", () => {
  it("are those of the C++ enums", () => {
    const types = header("base/types.hpp");
    expect([...dataTypes]).toEqual(enumerators(types, "DataType"));
    expect(reduceOps.map(camelCase)).toEqual(enumerators(types, "ReduceOp"));
    expect(collectives.map(camelCase)).toEqual(enumerators(types, "Collective"));
    // The engine may have more, which nothing here speaks of.
    expect([...protocols]).toEqual(enumerators(header("daemon/framing/protocols.hpp"), "Protocol").slice(0, protocols.length));
    expect([...ops]).toEqual(enumerators(header("base/program.hpp"), "Op"));
  });

  it("lead back to their names, and unknown ones are refused", () => {
    for (const type of dataTypes) expect(dataTypeFromCode(dataTypeCode(type))).toBe(type);
    for (const op of reduceOps) expect(reduceOpFromCode(reduceOpCode(op))).toBe(op);
    for (const collective of collectives) expect(collectiveFromCode(collectiveCode(collective))).toBe(collective);
    for (const protocol of protocols) expect(protocolFromCode(protocolCode(protocol))).toBe(protocol);
    expect(ops.map(opCode)).toEqual(ops.map((_, code) => code));
    for (const fromCode of [dataTypeFromCode, reduceOpFromCode, collectiveFromCode, protocolFromCode]) {
      for (const code of [-1, 99, 0.5, NaN]) expect(() => fromCode(code)).toThrow(InvalidArgumentError);
    }
  });

  it("tell names from other strings", () => {
    expect([isDataType("float16"), isReduceOp("avg"), isCollective("barrier"), isProtocol("ll")]).toEqual([true, true, true, true]);
    expect([isDataType("half"), isReduceOp("mean"), isCollective("allReduce"), isProtocol(1)]).toEqual([false, false, false, false]);
  });
});

describe("data types", () => {
  it("have typed arrays of their size", () => {
    for (const type of dataTypes) expect(typedArrayOf(type).BYTES_PER_ELEMENT).toBe(byteSizeOf(type));
    expect(dataTypes.filter(holdsRawBits)).toEqual(["float16", "bfloat16", "float8e4m3", "float8e5m2"]);
  });
});

describe("collectives", () => {
  it("have the segments that program.hpp states", () => {
    const segments = (collective: Exclude<(typeof collectives)[number], "custom">) => [
      inputSegmentsOf(collective, 5),
      outputSegmentsOf(collective, 5),
    ];
    expect(segments("all-reduce")).toEqual([1, 1]);
    expect(segments("all-gather")).toEqual([1, 5]);
    expect(segments("reduce-scatter")).toEqual([5, 1]);
    expect(segments("all-to-all")).toEqual([5, 5]);
    expect(segments("gather")).toEqual([1, 5]);
    expect(segments("scatter")).toEqual([5, 1]);
    expect(segments("send-recv")).toEqual([1, 1]);
    expect(segments("barrier")).toEqual([0, 0]);
    expect(collectiveShape("reduce")).toMatchObject({ takesRoot: true, takesOp: true, outputOn: "root" });
  });
});

describe("protocols", () => {
  it("lie in slots as the engine has them", () => {
    for (const protocol of protocols) {
      const { wire } = protocolFactsOf(protocol);
      if (wire.unitBytes === 0) continue;
      const framing = header(`daemon/framing/${protocol}.hpp`);
      const constant = (name: string): number => Number(new RegExp(`${name} = (\\d+);`).exec(framing)?.[1]);
      expect([wire.unitDataBytes, wire.unitBytes], protocol).toEqual([constant("kDataBytes"), constant("kLineBytes")]);
    }
  });

  it("spend the stated share of their slots on data", () => {
    expect(protocols.map((protocol) => protocolFactsOf(protocol).dataEfficiency)).toEqual([1, 1 / 2, 120 / 128]);
    for (const protocol of protocols) {
      const { slotBytes, slotPayloadBytes, wire } = protocolFactsOf(protocol);
      expect(wireBytes(protocol, slotPayloadBytes)).toBe(slotBytes);
      expect(wire.unitDataBytes + wire.unitFlagBytes).toBe(wire.unitBytes);
    }
  });

  it("pad the last unit", () => {
    expect([wireBytes("simple", 5), wireBytes("ll", 5), wireBytes("ll128", 121)]).toEqual([5, 16, 256]);
    expect(wireBytes("ll", 0)).toBe(0);
  });
});

describe("chunks", () => {
  it("lie as program.hpp says, cover every element once, and are short or empty at the end of a segment", () => {
    for (const count of [0, 1, 7, 12, 100]) {
      for (const chunksPerSegment of [1, 3, 8]) {
        const geometry = { count, chunksPerSegment };
        const covered = Array<number>(2 * count).fill(0);
        for (let chunk = 0; chunk < 2 * chunksPerSegment; chunk += 1) {
          const offset = chunkOffset(geometry, chunk);
          expect(offset).toBe(
            Math.floor(chunk / chunksPerSegment) * count + (chunk % chunksPerSegment) * Math.ceil(count / chunksPerSegment),
          );
          for (let index = 0; index < chunkLength(geometry, chunk); index += 1)
            covered[offset + index] = (covered[offset + index] ?? 0) + 1;
        }
        expect(covered.every((times) => times === 1)).toBe(true);
        expect(covered).toHaveLength(2 * count);
      }
    }
  });

  it("are cut into tiles, at least one", () => {
    expect(chunkCapacity({ count: 10, chunksPerSegment: 3 })).toBe(4);
    expect(tileCount({ count: 10, chunksPerSegment: 3 }, 3)).toBe(2);
    expect(tileCount({ count: 0, chunksPerSegment: 3 }, 3)).toBe(1);
    expect(() => tileCount({ count: 10, chunksPerSegment: 3 }, 0)).toThrow(InvalidArgumentError);
  });
});

describe("binary records", () => {
  it("have the fields that program.hpp declares, in order", () => {
    const source = header("base/program.hpp");
    for (const [name, { fields }] of Object.entries(programLayout)) {
      const body = new RegExp(`struct ${name} \\{([^}]*)\\}`).exec(source)?.[1] ?? "";
      const declared = [...body.matchAll(/uint(\d+)_t (\w+)(?:\[(\d+)\])?;/g)].flatMap(([, bits, field, times]) =>
        times === undefined && field !== "reserved"
          ? [[field, Number(bits) / 8]]
          : Array.from({ length: Number(times ?? 1) }, (_, index) => [`reserved${index}`, Number(bits) / 8]),
      );
      expect(
        Object.entries(fields).map(([field, { size }]) => [field, size]),
        name,
      ).toEqual(declared);
    }
  });
});

describe("errors", () => {
  it("carry code, facts, remedy and cause, and say what to do", () => {
    class LostError extends DfcclError {
      override readonly code = "LOST";
    }
    const cause = new Error("underneath");
    const error = new LostError("Rank 3 is lost.", { facts: { rank: 3 }, remedy: "Look for it.", cause });
    expect(error).toMatchObject({ name: "LostError", code: "LOST", facts: { rank: 3 }, remedy: "Look for it.", cause });
    expect(error.message).toBe("Rank 3 is lost. Look for it.");
    expect(new LostError("x", { remedy: "y" })).not.toHaveProperty("cause");
  });

  it("name the argument and what was given for it", () => {
    expect(new InvalidArgumentError("root", [1, "a"], "one rank").message).toBe('root is [1, "a"]. Give one rank.');
    expect(new InvalidArgumentError("root", {}, "one rank").message).toBe("root is an object. Give one rank.");
    expect(new InvalidArgumentError("root", undefined, "one rank").facts).toMatchObject({ argument: "root" });
  });
});
