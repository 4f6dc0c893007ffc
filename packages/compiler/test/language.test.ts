import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  allGather,
  allReduce,
  allToAll,
  compile,
  custom,
  defineProgram,
  LanguageError,
  type ProgramDefinition,
  reduceScatter,
} from "../src/index.js";

/** What compiling throws, and the text of the line of this file that it blames. */
function refusal(definition: ProgramDefinition<"output" | "scratch"> | ProgramDefinition): { error: LanguageError; blamed: string } {
  try {
    compile(definition as ProgramDefinition);
  } catch (error) {
    if (!(error instanceof LanguageError)) throw error;
    const [file = "", line = "0"] = error.line.split(/:(\d+):\d+$/);
    return {
      error,
      blamed: file.endsWith("test/language.test.ts") ? (readFileSync(file, "utf8").split("\n")[Number(line) - 1] ?? "").trim() : error.line,
    };
  }
  throw new Error("it should have been refused");
}

const inPlace = (body: ProgramDefinition["body"], chunks = 2) =>
  defineProgram({ collective: allReduce({ ranks: 3, chunks, inPlace: true }) }, body);

describe("a program of the language is refused at its line", () => {
  it("that names a rank which doesn't exist", () => {
    const { error, blamed } = refusal(
      inPlace(({ chunk }) => {
        chunk(0, "input").copy(3, "scratch", 0); // no rank 3
      }),
    );
    expect([error.code, blamed]).toEqual(["NO_SUCH_RANK", 'chunk(0, "input").copy(3, "scratch", 0); // no rank 3']);
    expect(error.facts).toMatchObject({ rank: 3, ranks: 3 });
  });

  it("that names chunks beyond the buffer", () => {
    const { error, blamed } = refusal(
      inPlace(({ chunk }) => {
        chunk(1, "input", 1, 2); // one too many
      }),
    );
    expect([error.code, blamed]).toEqual(["CHUNK_OUT_OF_RANGE", 'chunk(1, "input", 1, 2); // one too many']);
    expect(error.facts).toMatchObject({ available: 2 });
  });

  it("that reads what nobody wrote", () => {
    const { error, blamed } = refusal(
      inPlace(({ chunk }) => {
        chunk(1, "scratch"); // empty
      }),
    );
    expect([error.code, blamed]).toEqual(["UNINITIALISED_CHUNK", 'chunk(1, "scratch"); // empty']);
  });

  it("that uses a reference after its place was overwritten, and says where", () => {
    const { error, blamed } = refusal(
      inPlace(({ chunk }) => {
        const old = chunk(1, "input");
        chunk(1, "input").reduce(chunk(0, "input")); // overwrites
        old.copy(2, "scratch", 0); // stale
      }),
    );
    expect([error.code, blamed]).toEqual(["STALE_REFERENCE", 'old.copy(2, "scratch", 0); // stale']);
    const line = Number(/:(\d+):\d+$/.exec(String(error.facts.overwrittenAt))?.[1]);
    expect(readFileSync(new URL(import.meta.url), "utf8").split("\n")[line - 1]).toContain("// overwrites");
  });

  it("that reduces references of different counts", () => {
    const { error, blamed } = refusal(
      inPlace(({ chunk }) => {
        chunk(1, "input", 0, 2).reduce(chunk(0, "input", 0, 1)); // 2 and 1
      }),
    );
    expect([error.code, blamed]).toEqual(["SPAN_MISMATCH", 'chunk(1, "input", 0, 2).reduce(chunk(0, "input", 0, 1)); // 2 and 1']);
  });

  it("that writes its input out of place, which the types refuse too", () => {
    const definition = defineProgram({ collective: allReduce({ ranks: 2 }) }, ({ chunk }) => {
      // @ts-expect-error: out of place, the input is read only.
      chunk(0, "input").copy(1, "input", 0); // not here
    });
    const { error, blamed } = refusal(definition);
    expect([error.code, blamed]).toEqual(["INPUT_IS_READ_ONLY", 'chunk(0, "input").copy(1, "input", 0); // not here']);
  });

  it("that writes, in place, an input which is no output", () => {
    const definition = defineProgram({ collective: reduceScatter({ ranks: 2, inPlace: true }) }, ({ chunk }) => {
      chunk(0, "input", 1).reduce(chunk(1, "input", 1)); // rank 1's share, at rank 0
    });
    expect(refusal(definition).error.code).toBe("INPUT_IS_READ_ONLY");
  });

  it("that puts data on its way into an output chunk of another place in the segment", () => {
    const { error, blamed } = refusal(
      inPlace(({ chunk }) => {
        chunk(0, "input", 0).copy(1, "output", 1); // may be shorter
      }),
    );
    expect([error.code, blamed]).toEqual(["MISPLACED_DATA", 'chunk(0, "input", 0).copy(1, "output", 1); // may be shorter']);
  });

  it("that gives a directive which can't be honoured", () => {
    const bodies: ProgramDefinition["body"][] = [
      ({ chunk }) => chunk(0, "input").copy(1, "scratch", 0, { channel: -1 }),
      ({ chunk }) => chunk(0, "input").copy(1, "scratch", 0, { channel: 1.5 }),
      ({ chunk }) => chunk(0, "input").copy(0, "scratch", 0, { channel: 0 }),
      ({ parallelize }) => parallelize(0, () => {}),
      ({ parallelize }) => parallelize(20, () => parallelize(20, () => {})),
    ];
    for (const body of bodies) expect(refusal(inPlace(body)).error.code).toBe("BAD_DIRECTIVE");
    const moves = defineProgram({ collective: allGather({ ranks: 2, inPlace: true }) }, ({ chunk }) =>
      chunk(0, "output", 0).reduce(chunk(1, "output", 1)),
    );
    expect(refusal(moves).error.facts).toMatchObject({ expected: "a collective that reduces" });
  });

  it("whose result is wrong: which output, what it holds, what it should hold, at the line that wrote it", () => {
    const { error, blamed } = refusal(
      inPlace(({ chunk }) => {
        let sum = chunk(0, "input");
        for (const rank of [1, 2]) sum = sum.reduce(chunk(rank, "input"));
        sum.copy(1);
        sum.reduce(chunk(1, "scratch").copy(0, "scratch", 1)); // never written
      }, 1),
    );
    expect(error.code).toBe("UNINITIALISED_CHUNK");
    expect(blamed).toContain("// never written");
    const twice = refusal(
      inPlace(({ chunk }) => {
        for (const rank of [1, 2, 1]) chunk(0, "input").reduce(chunk(rank, "input")); // rank 1 twice
        for (const rank of [1, 2]) chunk(0, "output").copy(rank);
      }, 1),
    );
    expect(twice.error).toMatchObject({ code: "WRONG_RESULT", facts: { rank: 0, index: 0 } });
    expect(twice.error.facts.holds).toBe("input 0 of rank 0 + 2 × input 0 of rank 1 + input 0 of rank 2");
    expect(twice.error.facts.expected).toBe("input 0 of rank 0 + input 0 of rank 1 + input 0 of rank 2");
    expect(twice.blamed).toContain("// rank 1 twice");
  });

  it("that leaves an output unwritten", () => {
    const { error } = refusal(defineProgram({ collective: allToAll({ ranks: 2 }) }, () => {}));
    expect(error).toMatchObject({ code: "WRONG_RESULT", facts: { rank: 0, index: 0, holds: "nothing" } });
  });
});

describe("a body says at once which chunk goes where", () => {
  const collective = allReduce({ ranks: 2 });
  const refused = (argument: string) => expect.objectContaining({ code: "INVALID_ARGUMENT", facts: expect.objectContaining({ argument }) });

  it("so what would say it later is refused", () => {
    for (const body of [async () => {}, function* () {}, async function* () {}]) {
      expect(() => defineProgram({ collective }, body as never)).toThrow(refused("body"));
    }
    expect(() => defineProgram({ collective }, (async () => {}) as never)).toThrow("body is an async function. Give a function such as");
  });

  it("also within, and where a promise only comes out", () => {
    const within = defineProgram({ collective }, ({ parallelize }) => parallelize(2, (async () => {}) as never));
    expect(() => compile(within)).toThrow(refused("the body of parallelize"));
    const returning = defineProgram({ collective }, (() => Promise.reject(new Error("too late"))) as never);
    expect(() => compile(returning)).toThrow(refused("what body returned"));
  });
});

describe("the language", () => {
  it("takes a standard program in place, out of place, and both", () => {
    for (const placement of [true, "either"] as const) {
      const { program } = compile(
        defineProgram({ collective: allGather({ ranks: 2, inPlace: placement }) }, ({ chunk }) => {
          for (const rank of [0, 1]) chunk(rank, "input").copy(1 - rank, "output", rank);
        }),
      );
      expect([program.inPlace, program.outOfPlace]).toEqual([true, placement === "either"]);
      // Out of place, the own segment must be brought over; in place it is there.
      expect(program.ranks[0]?.blocks.flatMap(({ steps }) => steps.map(({ op }) => op)).includes("copy")).toBe(placement === "either");
    }
  });

  it("lets a custom collective promise anything, and holds it to that", () => {
    const reversed = custom({
      name: "reversed",
      ranks: 2,
      inputChunks: 3,
      outputChunks: 3,
      postcondition: (rank, chunk) => [{ rank, chunk: 2 - chunk }],
    });
    const { program } = compile(
      defineProgram({ collective: reversed }, ({ chunk }) => {
        for (const rank of [0, 1]) for (const index of [0, 1, 2]) chunk(rank, "input", index).copy(rank, "output", 2 - index);
      }),
    );
    expect(program).toMatchObject({ collective: "custom", inputSegments: 3, outputSegments: 3, chunksPerSegment: 1 });
    const copied = defineProgram({ collective: reversed }, ({ chunk }) => {
      for (const rank of [0, 1]) chunk(rank, "input", 0, 3).copy(rank, "output");
    });
    expect(refusal(copied).error.code).toBe("WRONG_RESULT");
  });

  it("aggregates what one reference covers into one message", () => {
    const { program } = compile(
      defineProgram({ collective: allGather({ ranks: 2, chunks: 4 }) }, ({ chunk }) => {
        for (const rank of [0, 1]) for (const to of [0, 1]) chunk(rank, "input", 0, 4).copy(to, "output", 4 * rank);
      }),
    );
    const sends = program.ranks.flatMap(({ blocks }) => blocks.flatMap(({ steps }) => steps.filter(({ op }) => op === "send")));
    expect(sends.map(({ count }) => count)).toEqual([4, 4]);
  });
});

describe("what JavaScript may pass although TypeScript wouldn't let it", () => {
  const untyped = (value: unknown): never => value as never;
  const collective = allReduce({ ranks: 2 });

  it.each([
    ["no definition", () => compile(untyped({ collective })), "definition"],
    ["no options", () => defineProgram(untyped(undefined), () => undefined), "options"],
    ["no collective", () => defineProgram(untyped({}), () => undefined), "collective"],
    ["no options of a collective", () => allReduce(untyped(undefined)), "options"],
    ["a place that is none", () => allReduce({ ranks: 2, inPlace: untyped("ether") }), "inPlace"],
    [
      "fewer chunks than none",
      () => custom({ name: "c", ranks: 2, inputChunks: -1, outputChunks: 1, postcondition: () => undefined }),
      "inputChunks",
    ],
    [
      "no postcondition",
      () => custom({ name: "c", ranks: 2, inputChunks: 1, outputChunks: 1, postcondition: untyped(5) }),
      "postcondition",
    ],
    ["no body", () => defineProgram({ collective }, untyped(undefined)), "body"],
  ])("is refused by name: %s", (_, act, argument) => {
    expect(act).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT", facts: expect.objectContaining({ argument }) }));
  });
});
