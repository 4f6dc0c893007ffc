import { expect, it } from "vitest";
import { readPlain } from "../src/index.js";

it("copies plain data, each part read once, and leaves the rest as it is", () => {
  let reads = 0;
  const view = new Float32Array(1);
  const given = {
    get counted() {
      reads += 1;
      return [{ reads }];
    },
    view,
  };
  const copy = readPlain("given", given);
  expect([copy, reads]).toEqual([{ counted: [{ reads: 1 }], view }, 1]);
  expect(copy.view).toBe(view);
});

it("names the part that can't be read", () => {
  const thrower = {
    get inner(): number {
      throw new Error("no");
    },
  };
  const refused = expect.objectContaining({
    code: "INVALID_ARGUMENT",
    facts: expect.objectContaining({ argument: "given.list[1].inner" }),
  });
  expect(() => readPlain("given", { list: [0, thrower] })).toThrow(refused);
});

it("ends where data holds itself", () => {
  const circle: unknown[] = [];
  circle.push(circle);
  expect(() => readPlain("given", circle)).toThrow("nested 32 deep at most");
});
