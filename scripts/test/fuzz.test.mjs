import { spawn, spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { CallersOwn, faultOf, faultOfEnd } from "../fuzz/judge.mjs";
import { end } from "../fuzz/processes.mjs";
import { Random } from "../fuzz/random.mjs";
import { stacksOf } from "../fuzz/stacks.mjs";

const draw = (seed) => {
  const random = new Random(seed);
  const tree = { a: [1, 2, { b: "c" }] };
  return [random.text(), random.json(), random.mutated(tree, () => random.json()), [...random.mutatedBytes(Buffer.from("bytes"))]];
};

it("a seed draws the same again, another one something else", () => {
  expect(draw(5)).toEqual(draw(5));
  expect(draw(5)).not.toEqual(draw(6));
});

it.each([
  ["a bare error", new TypeError("x is not a function"), /x is not a function/],
  ["what is no error", "thrown", /threw string/],
  ["no remedy", Object.assign(new Error("x"), { code: "X", facts: {}, remedy: "" }), /x/],
])("a thrown %s is a failure", (_what, error, fault) => expect(faultOf(error)).toMatch(fault));

it("an error that says what to do is none, nor is one that the caller's own getter threw", () => {
  expect(faultOf(Object.assign(new Error("x"), { code: "X", facts: {}, remedy: "Give y." }))).toBeUndefined();
  expect(faultOf(new CallersOwn())).toBeUndefined();
});

const ended = { code: 1, signal: null, stdout: "", stderr: "ranks is -1. Give a whole number from 1.", isInterrupted: false };

it.each([
  ["a signal", { signal: "SIGSEGV" }, "ended by SIGSEGV"],
  ["a stack trace", { stderr: "Error: x\n    at run (file:///x.js:1:2)" }, "a stack trace"],
  ["a stack trace beside success", { code: 0, stdout: "    at file:///x.js:1:2" }, "a stack trace"],
  ["silence", { stderr: "" }, "exit code 1 without a word"],
  ["a message that helps nobody", { stderr: "failed" }, "a message without a remedy"],
  ["an exit code of no table", { code: 9 }, "exit code 9, which is in no table"],
])("a command that ends with %s is a failure", (_what, wrong, fault) => expect(faultOfEnd({ ...ended, ...wrong })).toBe(fault));

it("one that says what to do is none, nor is one that was told to stop", () => {
  expect(faultOfEnd(ended)).toBeUndefined();
  expect(faultOfEnd({ ...ended, stdout: '{"remedy":"give it more"}', stderr: "" })).toBeUndefined();
  expect(faultOfEnd({ ...ended, code: 130, stderr: "", isInterrupted: true })).toBeUndefined();
});

it("of a command that hangs one hears where its threads are", async () => {
  const hanging = ["sh", "-c", "trap '' INT; sleep 600"];
  const ended = await end(hanging, { cwd: ".", env: process.env, interruptAfterMs: 1, killAfterMs: 1 });
  expect(faultOfEnd(ended)).toMatch(/^ended by a hang .*thread/is);
});

it("of a process that is gone there are no threads", async () => {
  const child = spawn("true");
  await new Promise((resolve) => child.on("close", resolve));
  expect(stacksOf(child.pid)).toBe("it is gone");
});

it.each([["--seed", "x"], ["--minutes", "-1"], ["--only", "nothing"], ["--case", "1"], ["--nope"]])(
  "the fuzzer refuses nonsense: %s %s",
  (...args) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/fuzz.mjs", ...args.filter(Boolean)], { encoding: "utf8" });
    expect(status).toBe(2);
    expect(stdout + stderr).not.toMatch(/^\s+at /m);
  },
);
