import { homedir } from "node:os";
import { expect, it } from "vitest";
import { defaultTuningPath } from "../../src/tuning/tuning-path.js";

it("lies in XDG_CONFIG_HOME, or in ~/.config where that is missing or relative", () => {
  expect(defaultTuningPath({ XDG_CONFIG_HOME: "/cfg" })).toBe("/cfg/dfccl/tuning.json");
  const usual = `${homedir()}/.config/dfccl/tuning.json`;
  expect([defaultTuningPath({}), defaultTuningPath({ XDG_CONFIG_HOME: "" }), defaultTuningPath({ XDG_CONFIG_HOME: "cfg" })]).toEqual([
    usual,
    usual,
    usual,
  ]);
});
