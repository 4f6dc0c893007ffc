import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { fileLengths } from "../checks/file-length.mjs";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "dfccl-lengths-"));
  mkdirSync(join(folder, "src", "node_modules"), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name, lines) => writeFileSync(join(folder, name), "x\n".repeat(lines));

it("names each source of more than 300 lines, and nothing else", () => {
  write("src/long.hpp", 301);
  write("src/fits.hpp", 300);
  write("src/node_modules/theirs.js", 900);
  write("page.md", 900);
  const { passed, failed, details } = fileLengths({ folder, longer: {} });
  expect([passed, failed]).toEqual([1, 1]);
  expect(details).toMatch(/^src\/long\.hpp has 301 lines/);
});

it("lets an exception be, and names one that is none any more", () => {
  write("src/long.hpp", 301);
  write("src/fits.hpp", 300);
  expect(fileLengths({ folder, longer: { "src/long.hpp": "a reason" } })).toMatchObject({ passed: 2, failed: 0 });
  const { failed, details } = fileLengths({
    folder,
    longer: { "src/long.hpp": "a reason", "src/fits.hpp": "a reason", "src/gone.hpp": "a reason" },
  });
  expect(failed).toBe(2);
  expect(details).toMatch(/fits\.hpp is no exception any more(?:.|\n)*gone\.hpp is no exception any more/);
});
