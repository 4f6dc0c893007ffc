import { describe, expect, it } from "vitest";
import { buildProgram, checkOptions, InvalidArgumentError, UnknownOptionError } from "../src/index.js";

interface Options {
  readonly ranks: number;
  readonly timeoutMs?: number;
  readonly stickiness?: string;
}
const known = { ranks: true, timeoutMs: true, stickiness: true } as const;
const check = (options: unknown, argument = "options") =>
  checkOptions(argument, options as Options, known, "an object such as { ranks: 4 }");

describe("checkOptions", () => {
  it("lets pass what is known, given or not", () => {
    expect(() => check({})).not.toThrow();
    expect(() => check({ ranks: 4, timeoutMs: undefined })).not.toThrow();
  });

  it("refuses what isn't an object", () => {
    for (const wrong of [null, undefined, 5, "ranks"]) expect(() => check(wrong)).toThrow(InvalidArgumentError);
  });

  it.each([
    ["sticky", "stickiness"],
    ["timeout", "timeoutMs"],
    ["timeoutMS", "timeoutMs"],
    ["rank", "ranks"],
    ["stikiness", "stickiness"],
    ["toString", undefined],
  ])("refuses %s, and names %s", (option, nearest) => {
    const facts = { option, nearest, known: Object.keys(known) };
    expect(() => check({ ranks: 4, [option]: 1 })).toThrowError(expect.objectContaining({ code: "UNKNOWN_OPTION", facts }));
  });

  it("does so in buildProgram", () => {
    const options = { collective: "all-reduce", algorithm: "ring", ranks: 4, channel: 2 };
    expect(() => buildProgram(options as never)).toThrow("channel is not an option here. Write channels, or leave it out.");
    expect(() => buildProgram(null as never)).toThrow(InvalidArgumentError);
  });

  it("says whose option it is, and which there are where none is like it", () => {
    expect(() => check({ rank: 1 }, "policy.quit")).toThrow("policy.quit.rank is not an option here. Write ranks, or leave it out.");
    expect(() => check({ colour: 1 })).toThrow(new UnknownOptionError("colour", Object.keys(known)));
    expect(() => check({ colour: 1 })).toThrow("There are ranks, timeoutMs, stickiness.");
  });
});
