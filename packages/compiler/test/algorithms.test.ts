import { protocols } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { compile } from "../src/index.js";
import { checkOutputs } from "./support/check-outputs.js";
import { everyAlgorithm } from "./support/every-algorithm.js";

const variants = [1, 2, 4].flatMap((instances) => protocols.map((protocol) => ({ instances, protocol })));

describe.each([1, 2, 3, 4, 5, 6, 7, 8])("on %i ranks, every algorithm", (ranks) => {
  it("is proven and computes what its collective promises, in every placement, with every protocol and 1, 2 and 4 instances", () => {
    for (const variant of ranks <= 6 ? variants : variants.slice(0, 1)) {
      for (const [number, definition] of everyAlgorithm(ranks, variant).entries()) checkOutputs(compile(definition), 3 + ranks, number);
    }
  });
});

describe.each([9, 11, 12, 13, 15, 16])("on %i ranks, every algorithm", (ranks) => {
  it("is proven", () => {
    for (const definition of everyAlgorithm(ranks)) expect(compile(definition).report.steps).toBeGreaterThan(0);
  });
});
