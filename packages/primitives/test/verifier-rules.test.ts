import { describe, expect, it } from "vitest";
import { verifyProgram } from "../src/index.js";
import { formRules } from "./verifier/form-rules.js";
import { orderRules } from "./verifier/order-rules.js";
import { refusal } from "./verifier/programs.js";
import { valueRules } from "./verifier/value-rules.js";

const rules = [...formRules, ...orderRules, ...valueRules];

describe("verifyProgram", () => {
  for (const { code, says, accepted, refused, facts } of rules) {
    it(`${says} (${code})`, () => {
      expect(() => verifyProgram(accepted)).not.toThrow();
      const error = refusal(refused);
      expect(error.code).toBe(code);
      expect(error.facts).toMatchObject(facts ?? {});
      expect(error.remedy).not.toBe("");
    });
  }

  it("has a test for every code but that of malformed bytes", () => {
    expect(new Set(rules.map(({ code }) => code)).size).toBe(14);
  });
});
