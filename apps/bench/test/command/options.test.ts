import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { byteSize, listOf, outputFile, outputFileOf, outputFileOrDash, outputFolder } from "../../src/commands/options.js";

it.each([
  ["8", 8],
  ["4K", 4096],
  ["64M", 2 ** 26],
  ["1G", 2 ** 30],
])("reads a size of %s", (text, bytes) => {
  expect(byteSize(text)).toBe(bytes);
});

it.each(["", "0", "6", "-8", "4k", "8 B", "0x10", "5G", "1e3", "K"])("refuses a size of %j", (text) => {
  expect(() => byteSize(text)).toThrow(/such as 8, 4K or 64M/);
});

it("reads a list, and refuses one with a gap", () => {
  expect(listOf(byteSize)("8,4K")).toEqual([8, 4096]);
  expect(() => listOf(byteSize)("8,,4K")).toThrow();
});

it("refuses a file that can't be written, before any work is done for it", () => {
  expect(outputFile(join(tmpdir(), "new.json"))).toBe(join(tmpdir(), "new.json"));
  expect(() => outputFile("/nowhere/new.json")).toThrow("Nothing can be written into /nowhere.");
  expect(() => outputFile(tmpdir())).toThrow("It must be a file.");
  expect(() => outputFile("")).toThrow("It must be a file.");
  expect(outputFileOrDash("-")).toBe("-");
});

it("takes no dash for a file or a folder, which would be created under that name", () => {
  for (const parse of [outputFile, outputFileOf(".svg")]) {
    expect(() => parse("-")).toThrow('Standard output can\'t be the file. Name one, or type ./- where it is to be named "-".');
  }
  expect(() => outputFolder("-")).toThrow("Standard output can't be the folder.");
});

it("takes a file of the formats that it writes, and devices, which have no ending", () => {
  const output = outputFileOf(".xml", ".json");
  expect(output(join(tmpdir(), "new.xml"))).toBe(join(tmpdir(), "new.xml"));
  expect(output("/dev/null")).toBe("/dev/null");
  expect(() => output(join(tmpdir(), "new.yaml"))).toThrow("It must end in .xml or .json: nothing is written as .yaml.");
});
