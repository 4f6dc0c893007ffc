import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadWorkload, WorkloadError, workloadNames } from "../../src/workloads/load-workload.js";

const folder = mkdtempSync(join(tmpdir(), "dfccl-workload-"));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(text: string): string {
  const path = join(folder, "workload.json");
  writeFileSync(path, text);
  return path;
}

describe("a workload from a file", () => {
  it("gives its tensors in their order", () => {
    const path = fileWith('{"name": "mine", "tensors": [{"name": "w", "elements": 3}, {"name": "b", "elements": 1}]}');
    expect(loadWorkload(path)).toEqual({
      name: "mine",
      tensors: [
        { name: "w", elements: 3 },
        { name: "b", elements: 1 },
      ],
    });
  });

  it("needs no names", () => {
    const path = fileWith('{"tensors": [{"elements": 3}]}');
    expect(loadWorkload(path)).toEqual({ name: path, tensors: [{ name: "tensor 0", elements: 3 }] });
  });

  it.each([
    ["no JSON", "tensors: 3", /isn't JSON/],
    ["an empty file", "", /isn't JSON/],
    ["null", "null", /tensors isn't a list/],
    ["a list", "[]", /tensors isn't a list/],
    ["no tensors", "{}", /tensors isn't a list/],
    ["an empty list of tensors", '{"tensors": []}', /tensors isn't a list with entries/],
    ["a name that is a number", '{"name": 3, "tensors": [{"elements": 3}]}', /name isn't a string/],
    ["a tensor that is a number", '{"tensors": [3]}', /tensors\[0\].elements is undefined/],
    ["a tensor that is null", '{"tensors": [{"elements": 1}, null]}', /tensors\[1\].elements is undefined/],
    ["a tensor's name that is a list", '{"tensors": [{"name": [], "elements": 3}]}', /tensors\[0\].name isn't a string/],
    ["no elements", '{"tensors": [{"elements": 0}]}', /tensors\[0\].elements is 0/],
    ["a negative number of elements", '{"tensors": [{"elements": -1}]}', /elements is -1/],
    ["half an element", '{"tensors": [{"elements": 1.5}]}', /elements is 1.5/],
    ["elements as text", '{"tensors": [{"elements": "3"}]}', /elements is the string "3", not/],
    ["elements that no text says", '{"tensors": [{"elements": {"toString": 1}}]}', /elements is an object, not/],
    ["more elements than a buffer can have", '{"tensors": [{"elements": 1e12}]}', /elements is 1000000000000/],
    ["too many tensors", JSON.stringify({ tensors: new Array(4097).fill({ elements: 1 }) }), /4097 tensors; at most 4096/],
  ])("refuses %s", (_, text, message) => {
    const load = (): unknown => loadWorkload(fileWith(text));
    expect(load).toThrow(WorkloadError);
    expect(load).toThrow(message);
    expect(load).toThrow(/Give resnet50/);
  });

  it("refuses a name that is neither built in nor a file", () => {
    expect(() => loadWorkload("resnet51")).toThrow(/no built-in workload and no file/);
    expect(() => loadWorkload("constructor")).toThrow(WorkloadError);
  });

  it("refuses a folder", () => {
    expect(() => loadWorkload(folder)).toThrow(WorkloadError);
  });
});

it.each(workloadNames)("%s is built in", (name) => {
  expect(loadWorkload(name).name).toBe(name);
});
