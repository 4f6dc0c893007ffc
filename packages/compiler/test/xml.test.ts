import { readdirSync, readFileSync } from "node:fs";
import { createProgram, DfcclError, type Program, programDigest, type Step, verifyProgram } from "@dfccl/primitives";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as algorithms from "../src/algorithms/index.js";
import { compile, MalformedXmlError, NotExpressibleError, readXml, UnsupportedXmlError, writeXml } from "../src/index.js";
import { everyAlgorithm } from "./support/every-algorithm.js";
import { expectedOutputs, inputsOf, runTrial } from "./support/run-program.js";

const folder = new URL("msccl-algorithms/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".xml"));
const textOf = (name: string): string => readFileSync(new URL(name, folder), "utf8");
const ring = textOf("ndv4-r48ll.xml");

/** What reading throws. */
function refusalOf(xml: string): DfcclError {
  try {
    verifyProgram(readXml(xml).program);
  } catch (error) {
    if (error instanceof DfcclError) return error;
    throw error;
  }
  throw new Error("it should have been refused");
}

function computesIts(program: Program): boolean {
  const count = program.chunksPerSegment + 3;
  const inputs = inputsOf(program, count, 7);
  const inPlace = !program.outOfPlace;
  const result = runTrial(program, inputs, { count, seed: 5, inPlace, tileElements: 1 });
  return result.ok && JSON.stringify(result.outputs) === JSON.stringify(expectedOutputs(program, inputs, count));
}

describe.each(files)("MSCCL's %s", (name) => {
  it("is read, proven with the slots of MSCCL's runtime, and written back without a change of meaning", () => {
    const { program, minBytes, maxBytes, ...algorithm } = readXml(textOf(name));
    expect(verifyProgram(program).steps).toBeGreaterThan(0);
    const again = readXml(writeXml(program, { name: algorithm.name, minBytes, maxBytes }));
    expect(again).toMatchObject({ name: algorithm.name, minBytes, maxBytes });
    expect(programDigest(again.program)).toBe(programDigest(program));
    expect(again.program).toEqual(program);
  });
});

it("computes what MSCCL's files promise", () => {
  for (const name of ["ncv4-ag_hier_4_LL.xml", "ncv4-ar_tree_12_LL.xml", "ndv4-a2a2ll.xml", "ndv4-r48ll.xml"]) {
    expect(computesIts(readXml(textOf(name)).program), name).toBe(true);
  }
});

it("writes compiled programs so that they come back proven, and stay as they are from then on", () => {
  let written = 0;
  for (const definition of everyAlgorithm(4, { instances: 2 })) {
    const { name, program, postcondition } = compile(definition);
    const promise = program.collective === "custom" ? { postcondition } : {};
    // A custom collective's segments are its chunks, and two instances cut them: MSCCL's files have chunks only.
    if (program.collective === "custom") continue;
    const once = readXml(writeXml(program, { name }), { slotCount: program.slotCount });
    expect(verifyProgram(once.program, promise).steps, name).toBeGreaterThan(0);
    expect(computesIts(once.program), name).toBe(true);
    const twice = readXml(writeXml(once.program, { name }), { slotCount: program.slotCount });
    expect(twice.program, name).toEqual(once.program);
    written += 1;
  }
  expect(written).toBeGreaterThan(20);
});

describe("a program that the format can't say is refused", () => {
  const refused = (program: Program): unknown => {
    try {
      writeXml(program, { name: "x" });
    } catch (error) {
      return error;
    }
    return undefined;
  };
  const oneStep = (step: Step, collective: "all-reduce" | "gather" = "all-reduce") =>
    createProgram({
      collective,
      root: 0,
      chunksPerSegment: 100,
      inPlace: false,
      outOfPlace: true,
      ranks: [0, 1].map(() => ({ blocks: [[step]] })),
    });

  it("for its collective, direct access, several peers of a block, and what MSCCL's runtime can't hold", () => {
    const src = { buffer: "input", chunk: 0 } as const;
    const dst = { buffer: "output", chunk: 0 } as const;
    expect(refused(oneStep({ op: "copy", src, dst, count: 1 }, "gather"))).toMatchObject({
      code: "NOT_EXPRESSIBLE",
      facts: { collective: "gather" },
    });
    expect(refused(oneStep({ op: "send", src, send: { peer: 1, channel: 0, remote: dst }, count: 1 }))).toBeInstanceOf(NotExpressibleError);
    expect(
      refused(oneStep({ op: "recvCopySend", dst, recv: { peer: 1, channel: 0 }, send: { peer: 1, channel: 1 }, count: 1 })),
    ).toBeInstanceOf(NotExpressibleError);
    expect(refused(oneStep({ op: "copy", src, dst, count: 72 }))).toMatchObject({ facts: { value: 72, most: 71 } });
    expect(refused(oneStep({ op: "copy", src, dst, count: 71 }))).toBeUndefined();
    const copy: Step = { op: "copy", src, dst, count: 1 };
    const long = createProgram({
      collective: "all-reduce",
      chunksPerSegment: 1,
      inPlace: false,
      outOfPlace: true,
      ranks: [{ blocks: [Array.from({ length: 257 }, () => copy)] }],
    });
    expect(refused(long)).toMatchObject({ facts: { value: 257, most: 256, rank: 0, block: 0 } });
    expect(writeXml(long, { name: "long", ignoreLimits: true })).toContain('s="256"');
  });
});

it("a byte order mark is passed over", () => {
  expect(programDigest(readXml(`\uFEFF${ring}`).program)).toBe(programDigest(readXml(ring).program));
});

it("errors name the file, where it is known, and its line", () => {
  const refusal = (xml: string, options = {}): unknown => {
    try {
      return readXml(xml, options);
    } catch (error) {
      return error;
    }
  };
  const file = "all/ring.xml";
  const begins = (text: string) => ({ message: expect.stringMatching(new RegExp(`^${text}`)) });
  expect(refusal("<algo/>", { file })).toMatchObject({ facts: { file, line: 1 }, ...begins("all/ring.xml:1: <algo>") });
  expect(refusal("<algo/>")).toMatchObject(begins("Line 1: <algo>"));
  expect(refusal("<algo/><algo/>", { file })).toMatchObject(begins("all/ring.xml:?1?: "));
  // What is well written and can't be carried out.
  const waits = ring.replace('depid="-1" deps="-1"', 'depid="-1" deps="5"');
  expect(refusal(waits, { file })).toMatchObject({ code: "UNSUPPORTED_XML", ...begins("all/ring.xml:\\d+: it names a block") });
  expect(refusal("<algo/>", { files: file })).toHaveProperty("code", "UNKNOWN_OPTION");
  expect(refusal(undefined as never)).toHaveProperty("code", "INVALID_ARGUMENT");
});

describe("hostile XML is refused, with the line where there is one:", () => {
  const small = `<algo name="a" proto="Simple" nchannels="1" nchunksperloop="1" ngpus="1" coll="allreduce" inplace="0">
<gpu id="0" i_chunks="1" o_chunks="1" s_chunks="0">
<tb id="0" send="-1" recv="-1" chan="0">
<step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
</tb></gpu></algo>`;

  it("(the same without the fault is read)", () => {
    expect(readXml(small).program.ranks).toHaveLength(1);
  });

  it.each<[string, string, Partial<Record<string, unknown>>]>([
    ["entities", `<!DOCTYPE a [<!ENTITY x "${"y".repeat(99)}">]>${small}`, { line: 1 }],
    ["an external entity", `\n<!DOCTYPE a SYSTEM "file:///etc/passwd">${small}`, { line: 2 }],
    ["deep nesting", `${"<algo>".repeat(100_000)}${"</algo>".repeat(100_000)}`, {}],
    ["an unclosed element", small.replace("</gpu>", ""), {}],
    ["a repeated attribute", small.replace('id="0"', 'id="0" id="0"'), { line: 2 }],
    ["text", small.replace("</tb>", "hello</tb>"), {}],
    ["two roots", `${small}${small}`, {}],
    ["another root", "<plan/>", { line: 1 }],
    ["an unknown element", small.replace("<step", '<leap s="1"/><step'), { line: 4 }],
    ["a missing attribute", small.replace('cnt="1"', ""), { line: 4, attribute: "cnt" }],
    ["a missing gpu", small.replace('ngpus="1"', 'ngpus="2"'), { id: 1 }],
    ["a gpu beyond ngpus", small.replace('<gpu id="0"', '<gpu id="1"'), { line: 2 }],
    ["a duplicate id", small.replace("</tb>", '</tb><tb id="0" send="-1" recv="-1" chan="0"/>'), { line: 5 }],
    ["steps out of order", small.replace('step s="0"', 'step s="1"'), { line: 4 }],
    ["an unknown type", small.replace("cpy", "fly"), { line: 4, attribute: "type" }],
    ["a property's name for a type", small.replace("cpy", "constructor"), { line: 4, attribute: "type" }],
    ["no number", small.replace('srcoff="0"', 'srcoff="0x0"'), { line: 4, attribute: "srcoff" }],
    ["a huge number", small.replace('cnt="1"', 'cnt="99999999999"'), { line: 4, attribute: "cnt" }],
    ["a negative offset", small.replace('srcoff="0"', 'srcoff="-3"'), { line: 4, attribute: "srcoff" }],
    ["sizes that contradict each other", small.replace('i_chunks="1"', 'i_chunks="2"'), { line: 2 }],
    ["a send without a peer", small.replace("cpy", "s"), { line: 4 }],
    ["__proto__", small.replace('name="a"', 'name="a" __proto__="x"'), {}],
    ["nothing", "", {}],
  ])("%s", (_, xml, facts) => {
    const error = refusalOf(xml);
    expect(error).toBeInstanceOf(MalformedXmlError);
    expect(error.facts).toMatchObject(facts);
  });

  it("a file of unreasonable size", () => {
    expect(refusalOf(" ".repeat((16 << 20) + 1)).message).toContain("16777217 characters");
  });

  it("waits for a step that isn't there, or that tells nobody", () => {
    expect(refusalOf(small.replace('depid="-1" deps="-1"', 'depid="1" deps="0"'))).toBeInstanceOf(UnsupportedXmlError);
    const two = small.replace(
      "</tb>",
      '</tb><tb id="1" send="-1" recv="-1" chan="0"><step s="0" type="nop" depid="0" deps="0" hasdep="0"/></tb>',
    );
    expect(refusalOf(two).message).toContain("tells nobody");
    expect(readXml(two.replace('hasdep="0"', 'hasdep="1"')).program.ranks[0]?.blocks).toHaveLength(2);
  });

  it("an input that is written out of place, and one name that means two things", () => {
    expect(refusalOf(small.replace('dstbuf="o"', 'dstbuf="i"'))).toMatchObject({ code: "UNSUPPORTED_XML", facts: { line: 4 } });
    const both = small
      .replace('inplace="0"', 'inplace="1" outofplace="1"')
      .replace("</tb>", '<step s="1" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1"/></tb>');
    expect(refusalOf(both).message).toContain("means other data in place than out of place");
  });

  it("anything at all: a file with some characters changed is read or refused, never more", () => {
    const change = fc.tuple(fc.nat(ring.length - 1), fc.constantFrom("0", "9", '"', "<", ">", "/", "-", "i", "r", " ", "&", "]]>"));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        let xml = ring;
        for (const [at, text] of changes) xml = xml.slice(0, at) + text + xml.slice(at + 1);
        try {
          verifyProgram(readXml(xml).program);
        } catch (error) {
          expect(error).toBeInstanceOf(DfcclError);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("an algorithm with a mistake is refused with its counterexample:", () => {
  it("a chunk that misses a rank's share", () => {
    const error = refusalOf(ring.replace('type="rrcs"', 'type="rcs"'));
    expect(error.code).toBe("POSTCONDITION");
    expect(String(error.facts.holds)).toContain("input");
  });

  it("two blocks on one connection, as the reference compiler lets pass", () => {
    expect(refusalOf(ring.replace('<tb id="1" send="1" recv="7" chan="1">', '<tb id="1" send="1" recv="7" chan="0">')).code).toBe(
      "CONNECTION_SHARED",
    );
  });

  it("more sends than the slots hold", () => {
    const { program } = compile(algorithms.ringAllGather({ ranks: 4, protocol: "simple" }));
    const xml = writeXml(program, { name: "ring" });
    expect(readXml(xml).program.slotCount).toBe(2);
    expect(() => verifyProgram(readXml(xml, { slotCount: 1 }).program)).toThrow(expect.objectContaining({ code: "CYCLIC_PROGRAM" }));
  });
});
