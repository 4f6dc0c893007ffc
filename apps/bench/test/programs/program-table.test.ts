import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildProgram, selectAmongPrograms } from "@dfccl/primitives";
import { afterAll, describe, expect, it } from "vitest";
import { builtInsBeside, contendersOf, countFor } from "../../src/programs/contenders.js";
import { loadProgramTable, rulesOf, type SizeResult, saveProgramTable } from "../../src/programs/program-table.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-table-"));
afterAll(() => rmSync(folder, { recursive: true }));

const ring = buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: 4, inPlace: "either" });
const mine = contendersOf([{ name: "mine", program: ring, postcondition: () => undefined }]);
const contenders = [...mine, ...mine.flatMap(builtInsBeside)];
const result = (bytes: number, mine: number, tree: number): SizeResult => ({
  bytes,
  measured: [
    { name: "mine", seconds: mine, samples: [mine] },
    { name: "built-in binomial-tree", seconds: tree, samples: [tree] },
  ],
});
const rules = rulesOf([result(1024, 3, 2), result(4096, 3, 2), result(16384, 2, 3), result(65536, 3, 2)], contenders);

describe("a table of programs", () => {
  it("has one rule for each row of sizes with the same winner", () => {
    expect(rules.map(({ name, minBytes, maxBytes }) => [name, minBytes, maxBytes])).toEqual([
      ["built-in binomial-tree", 0, 16384],
      ["mine", 16384, 65536],
      ["built-in binomial-tree", 65536, 0],
    ]);
  });

  it("comes back from its file, and chooses", async () => {
    const path = join(folder, "table.json");
    await saveProgramTable(path, { machine: { cores: 2 }, savedAt: "today", rules });
    const table = await loadProgramTable(path);
    expect(table).toEqual({ machine: { cores: 2 }, savedAt: "today", rules });
    const request = { collective: "all-reduce", ranks: 4, inPlace: "either", platform: { sharedMemory: true } } as const;
    const names = [512, 20_000, 1 << 20].map((bytes) => {
      const chosen = selectAmongPrograms({ ...request, bytes, count: bytes / 4 }, table.rules);
      return chosen.kind === "program" ? chosen.rule.name : "built in";
    });
    expect(names).toEqual(["built-in binomial-tree", "mine", "built-in binomial-tree"]);
  });

  it("is refused if a program in it isn't right", async () => {
    const path = join(folder, "wrong.json");
    await saveProgramTable(path, { machine: {}, savedAt: "", rules });
    writeFileSync(path, readFileSync(path, "utf8").replace('"op":"recvReduceSend"', '"op":"recvCopySend"'));
    await expect(loadProgramTable(path)).rejects.toMatchObject({ code: "TUNING_FILE", message: expect.stringContaining("isn't proven") });
    writeFileSync(path, '{"schemaVersion":1,"rules":[{"name":{"toString":1},"program":1}]}');
    await expect(loadProgramTable(path)).rejects.toMatchObject({ message: expect.stringContaining("rule 0 (an object) isn't proven") });
    for (const text of [
      "{",
      "null",
      "[]",
      '{"schemaVersion":1}',
      '{"schemaVersion":1,"rules":[null]}',
      '{"schemaVersion":1,"rules":[{}]}',
    ]) {
      writeFileSync(path, text);
      await expect(loadProgramTable(path), text).rejects.toMatchObject({ code: "TUNING_FILE" });
    }
  });
});

describe("contenders", () => {
  it("are the programs and every built-in algorithm that can run in both placements", () => {
    const names = contenders.map(({ name }) => name);
    expect(names).toContain("mine");
    expect(names).toContain("built-in ring ll");
    expect(names).toContain("built-in direct-two-shot");
    expect(new Set(names).size).toBe(names.length);
  });

  it("are for one collective on the same ranks, or refused", () => {
    const other = buildProgram({ collective: "all-reduce", algorithm: "ring", ranks: 3, inPlace: "either" });
    const both = [ring, other].map((program, i) => ({ name: `program ${i}`, program, postcondition: () => undefined }));
    expect(() => contendersOf(both)).toThrow(/programs for all-reduce on 4 ranks/);
  });

  it("get at least the bytes that were asked for in the larger buffer", () => {
    const gather = buildProgram({ collective: "all-gather", algorithm: "ring", ranks: 3, inPlace: "either" });
    expect([countFor(ring, 1024), countFor(gather, 1024), countFor(ring, 1)]).toEqual([256, 86, 1]);
  });
});
