import { describe, expect, it } from "vitest";
import { awaitSignal, copy, multiReduceCopy, on, recv, recvCopySend, send, signal } from "../src/builders/step-factory.js";
import { CyclicProgramError, type LocalChunk, PostconditionError, type Step, verifyProgram } from "../src/index.js";
import { broadcast, in0, out0, program, refusal, tmp0, to } from "./verifier/programs.js";

describe("what verifyProgram says, and what it accepts", () => {
  it("reports the shortest of several cycles", () => {
    const detour = [awaitSignal(to(1, 1)), signal(to(2, 1))];
    const refused = program("barrier", [
      [[awaitSignal(to(1)), signal(to(1))], detour],
      [
        [awaitSignal(to(0)), signal(to(0))],
        [awaitSignal(to(2, 1)), signal(to(0, 1))],
      ],
      [[awaitSignal(to(0, 1)), signal(to(1, 1))]],
    ]);
    const error = refusal(refused);
    expect(error).toBeInstanceOf(CyclicProgramError);
    const { cycle } = error as CyclicProgramError;
    expect(cycle).toHaveLength(4);
    expect(cycle.map(({ waiter }) => waiter.rank).sort()).toEqual([0, 0, 1, 1]);
    expect(cycle.map(({ awaited }) => awaited)).toEqual(cycle.map((_, index) => cycle[(index + 1) % cycle.length]?.waiter));
  });

  it("says in words what an output holds and what it should hold", () => {
    const error = refusal(broadcast([[[copy(out0, in0), send(in0, to(1))]], [[recv(tmp0, to(0))]]]));
    expect(error).toBeInstanceOf(PostconditionError);
    expect(error.message).toContain("output chunk 0 of rank 1 ends up with nothing and should hold input 0 of rank 0");
  });

  it("notices ranks that add in different orders", () => {
    // Each rank starts with its own input: three different orders, so three different roundings.
    const ranks = [0, 1, 2].map((rank) => {
      const [next, last] = [(rank + 1) % 3, (rank + 2) % 3];
      return [[{ ...multiReduceCopy([on(rank, out0)], [on(rank, in0), on(next, in0), on(last, in0)]), finish: true }]];
    });
    expect(verifyProgram(program("all-reduce", ranks)).sameBitsOnEveryRank).toBe(false);
  });

  it("takes a custom collective's postcondition from its caller", () => {
    const shift = program(
      "custom",
      [0, 1, 2].map((rank) => [[send(in0, to((rank + 1) % 3)), recv(out0, to((rank + 2) % 3))]]),
    );
    expect(() => verifyProgram(shift, { postcondition: (rank) => [{ rank: (rank + 2) % 3, chunk: 0 }] })).not.toThrow();
    expect(() => verifyProgram(shift, { postcondition: (rank) => [{ rank, chunk: 0 }] })).toThrow(PostconditionError);
  });

  it("counts how often each input is added, where nothing else is wrong", () => {
    const add = (dst: LocalChunk): Step => ({ op: "reduce", dst, src: in0, count: 1 });
    const once = program("custom", [[[copy(tmp0, in0), copy(out0, tmp0)]]]);
    const twice = program("custom", [[[copy(tmp0, in0), add(tmp0), copy(out0, tmp0)]]]);
    const postcondition = () => [{ rank: 0, chunk: 0 }];
    expect(() => verifyProgram(once, { postcondition })).not.toThrow();
    expect(() => verifyProgram(twice, { postcondition })).toThrow("2 × input 0 of rank 0");
    expect(() => verifyProgram(twice, { postcondition: () => [...postcondition(), ...postcondition()] })).not.toThrow();
  });

  it("follows a value through a fused step and scratch", () => {
    const chain = broadcast([
      [[copy(out0, in0), send(in0, to(1))]],
      [[recvCopySend(tmp0, to(0), to(2)), copy(out0, tmp0)]],
      [[recv(out0, to(1))]],
    ]);
    expect(() => verifyProgram(chain)).not.toThrow();
  });
});
