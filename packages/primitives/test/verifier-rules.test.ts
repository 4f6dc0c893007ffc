import { describe, expect, it } from "vitest";
import {
  after,
  awaitSignal,
  copy,
  input,
  multiReduceCopy,
  on,
  output,
  recv,
  recvCopySend,
  recvReduceCopy,
  scratch,
  send,
  signal,
} from "../src/builders/step-factory.js";
import {
  type Collective,
  CyclicProgramError,
  createProgram,
  type LocalChunk,
  PostconditionError,
  type Program,
  ProgramError,
  type ProgramSpec,
  type Step,
  verifyProgram,
} from "../src/index.js";

/** A program of one segment chunk in which rank r has the blocks `ranks[r]`. */
function program(collective: Collective, ranks: readonly (readonly Step[])[][], spec: Partial<ProgramSpec> = {}): Program {
  return createProgram({
    collective,
    chunksPerSegment: 1,
    inPlace: false,
    outOfPlace: true,
    ...(collective === "custom" ? { inputSegments: 1, outputSegments: 1 } : {}),
    ...spec,
    ranks: ranks.map((blocks) => ({ blocks, scratchChunks: 1 })),
  });
}

function refusal(refused: Program): ProgramError {
  try {
    verifyProgram(refused);
  } catch (error) {
    if (error instanceof ProgramError) return error;
    throw error;
  }
  throw new Error("the program was not refused");
}

const to = (peer: number, channel = 0) => ({ peer, channel });
const [in0, out0, tmp0] = [input(0), output(0), scratch(0)];

interface Rule {
  readonly code: string;
  readonly says: string;
  /** Right, and as close as possible to the wrong one. */
  readonly accepted: Program;
  readonly refused: Program;
  readonly facts?: Record<string, unknown>;
}

const passMessage: (readonly Step[])[][] = [[[copy(out0, in0), send(in0, to(1))]], [[recv(out0, to(0))]]];
const broadcast = (ranks: (readonly Step[])[][], spec: Partial<ProgramSpec> = {}): Program =>
  program("broadcast", ranks, { root: 0, ...spec });

/** Rank 0 writes to rank 1's output; from what it has written to its own, if that comes first. */
const passDirectly = (afterOwn: boolean): (readonly Step[])[][] => {
  const toOther = multiReduceCopy([on(1, out0)], [on(0, afterOwn ? out0 : in0)]);
  return [[[copy(out0, in0)], [afterOwn ? { ...toOther, dependsOn: [{ block: 0, step: 0 }] } : toOther]], [[]]];
};

const rules: Rule[] = [
  {
    code: "BAD_PROGRAM",
    says: "a program must state how it may run",
    accepted: broadcast(passMessage),
    refused: broadcast(passMessage, { outOfPlace: false }),
  },
  {
    code: "BAD_PROGRAM",
    says: "direct access must be declared, so that the engine ends the run with a barrier",
    accepted: broadcast([[[copy(out0, in0)]], [[multiReduceCopy([on(1, out0)], [on(0, in0)])]]]),
    refused: broadcast([[[copy(out0, in0)]], [[multiReduceCopy([on(1, out0)], [on(0, in0)])]]], { usesDirect: false }),
  },
  {
    code: "BAD_PROGRAM",
    says: "the root must be one of the ranks",
    accepted: broadcast(passMessage, { root: 0 }),
    refused: broadcast(passMessage, { root: 2 }),
  },
  {
    code: "BAD_PROGRAM",
    says: "send-recv is for two ranks",
    accepted: program("send-recv", [[[send(in0, to(1))]], [[recv(out0, to(0))]]], { root: 0 }),
    refused: program("send-recv", [[[send(in0, to(1))]], [[recv(out0, to(0))]], [[]]], { root: 0 }),
  },
  {
    code: "BAD_STEP",
    says: "a step must have the operands of its instruction",
    accepted: broadcast(passMessage),
    refused: broadcast([[[copy(out0, in0), { op: "send", src: in0, count: 1 }]], [[recv(out0, to(0))]]]),
    facts: { rank: 0, block: 0, step: 1 },
  },
  {
    code: "BAD_STEP",
    says: "what goes step by step has no messages",
    accepted: broadcast(passMessage),
    refused: broadcast(passMessage, { stepByStep: true }),
    facts: { rank: 0, block: 0, step: 1, op: "send" },
  },
  {
    code: "BAD_STEP",
    says: "what goes step by step has no dependencies",
    accepted: broadcast(passDirectly(false), { stepByStep: true }),
    refused: broadcast(passDirectly(true), { stepByStep: true }),
    facts: { rank: 0, block: 1, step: 0, op: "multiReduceCopy" },
  },
  {
    code: "BAD_STEP",
    says: "nobody writes an input buffer",
    accepted: broadcast([[[copy(out0, in0), send(in0, to(1))]], [[recv(tmp0, to(0)), copy(out0, tmp0)]]]),
    refused: broadcast([[[copy(out0, in0), copy(in0, out0), send(in0, to(1))]], [[recv(out0, to(0))]]]),
    facts: { rank: 0, block: 0, step: 1 },
  },
  {
    code: "BAD_STEP",
    says: "a rank doesn't send to itself",
    accepted: broadcast(passMessage),
    refused: broadcast([[[copy(out0, in0), send(in0, to(0)), recv(tmp0, to(0))]], [[recv(out0, to(0))]]]),
  },
  {
    code: "BAD_STEP",
    says: "a step depends on steps of other blocks that exist",
    accepted: broadcast([[[copy(out0, in0)], [after(send(in0, to(1)), { block: 0, step: 0 })]], [[recv(out0, to(0))]]]),
    refused: broadcast([[[copy(out0, in0)], [after(send(in0, to(1)), { block: 0, step: 1 })]], [[recv(out0, to(0))]]]),
  },
  {
    code: "BAD_STEP",
    says: "a step's ranges are equal or apart",
    accepted: program("broadcast", [[[copy(out0, in0, 2)]]], { root: 0, chunksPerSegment: 2 }),
    refused: program("broadcast", [[[multiReduceCopy([on(0, out0), on(0, output(1))], [on(0, in0)], 2)]]], {
      root: 0,
      chunksPerSegment: 3,
    }),
  },
  {
    code: "OUT_OF_BOUNDS",
    says: "chunks lie within their buffer",
    accepted: broadcast(passMessage),
    refused: broadcast([[[copy(out0, in0), send(input(1), to(1))]], [[recv(out0, to(0))]]]),
    facts: { rank: 0, block: 0, step: 1, first: 1, count: 1, available: 1 },
  },
  {
    code: "OUT_OF_BOUNDS",
    says: "a rank that is not the root has no input in a broadcast",
    accepted: broadcast(passMessage),
    refused: broadcast([[[copy(out0, in0)]], [[copy(out0, in0)]]]),
    facts: { rank: 1, available: 0 },
  },
  {
    code: "CONNECTION_SHARED",
    says: "a connection end belongs to one block",
    accepted: broadcast([[[copy(out0, in0), send(in0, to(1))], [signal(to(1, 1))]], [[recv(out0, to(0)), awaitSignal(to(0, 1))]]]),
    refused: broadcast([[[copy(out0, in0), send(in0, to(1))], [signal(to(1, 0))]], [[recv(out0, to(0)), awaitSignal(to(0, 0))]]]),
    facts: { rank: 0, block: 1, step: 0, other: { rank: 0, block: 0, step: 1 } },
  },
  {
    code: "UNMATCHED_SEND",
    says: "every send has a receive",
    accepted: broadcast([[[copy(out0, in0), send(in0, to(1)), signal(to(1))]], [[recv(out0, to(0)), awaitSignal(to(0))]]]),
    refused: broadcast([[[copy(out0, in0), send(in0, to(1)), signal(to(1))]], [[recv(out0, to(0))]]]),
    facts: { rank: 0, block: 0, step: 2, sends: 2, recvs: 1 },
  },
  {
    code: "UNMATCHED_SEND",
    says: "every receive has a send",
    accepted: broadcast(passMessage),
    refused: broadcast([[[copy(out0, in0), send(in0, to(1))]], [[recv(out0, to(0)), awaitSignal(to(0))]]]),
    facts: { rank: 1, block: 0, step: 1, sends: 1, recvs: 2 },
  },
  {
    code: "PAYLOAD_MISMATCH",
    says: "both ends of a message agree on its size",
    accepted: broadcast([[[copy(out0, in0, 2), send(in0, to(1), 2)]], [[recv(out0, to(0), 2)]]], { chunksPerSegment: 2 }),
    refused: broadcast(
      [[[copy(out0, in0, 2), send(in0, to(1), 1), send(input(1), to(1), 1)]], [[recv(out0, to(0), 2), awaitSignal(to(0))]]],
      { chunksPerSegment: 2 },
    ),
    facts: { rank: 1, partner: { rank: 0, block: 0, step: 1 } },
  },
  {
    code: "PAYLOAD_MISMATCH",
    says: "both ends agree on where a direct message lands",
    accepted: broadcast([[[copy(out0, in0), send(in0, { ...to(1), remote: out0 })]], [[recv(out0, { ...to(0), landing: out0 })]]]),
    refused: broadcast([[[copy(out0, in0), send(in0, { ...to(1), remote: tmp0 })]], [[recv(out0, { ...to(0), landing: out0 })]]]),
  },
  {
    code: "CYCLIC_PROGRAM",
    says: "two ranks don't both receive before they send",
    accepted: program("barrier", [[[signal(to(1)), awaitSignal(to(1))]], [[signal(to(0)), awaitSignal(to(0))]]]),
    refused: program("barrier", [[[awaitSignal(to(1)), signal(to(1))]], [[awaitSignal(to(0)), signal(to(0))]]]),
  },
  {
    code: "CYCLIC_PROGRAM",
    says: "no more sends are outstanding than there are slots",
    accepted: program("barrier", exchangeSignals(3), { slotCount: 3 }),
    refused: program("barrier", exchangeSignals(3), { slotCount: 2 }),
    facts: { slotCount: 2 },
  },
  {
    code: "CYCLIC_PROGRAM",
    says: "dependencies between blocks lead nowhere round",
    accepted: broadcast([
      [[copy(out0, in0)], [after({ op: "nop", count: 0 }, { block: 0, step: 0 }), send(in0, to(1))]],
      [[recv(out0, to(0))]],
    ]),
    refused: broadcast([
      [[after(copy(out0, in0), { block: 1, step: 1 })], [after({ op: "nop", count: 0 }, { block: 0, step: 0 }), send(in0, to(1))]],
      [[recv(out0, to(0))]],
    ]),
  },
  {
    code: "UNINITIALISED_READ",
    says: "nobody reads what nobody wrote",
    accepted: broadcast([[[copy(tmp0, in0), copy(out0, tmp0), send(in0, to(1))]], [[recv(out0, to(0))]]]),
    refused: broadcast([[[copy(out0, tmp0), send(in0, to(1))]], [[recv(out0, to(0))]]]),
    facts: { rank: 0, block: 0, step: 0 },
  },
  {
    code: "UNINITIALISED_READ",
    says: "in place, raw data is named input, so that scaled-sum scales it",
    accepted: broadcast([[[send(in0, to(1))]], [[recv(out0, to(0))]]], { inPlace: true, outOfPlace: false }),
    refused: broadcast([[[send(out0, to(1))]], [[recv(out0, to(0))]]], { inPlace: true, outOfPlace: false }),
  },
  {
    code: "OVERWRITTEN_INPUT",
    says: "in place, input isn't read after it was overwritten",
    accepted: broadcast([[[send(in0, to(1)), copy(out0, in0)]], [[recv(out0, to(0))]]], { inPlace: true }),
    refused: broadcast([[[copy(out0, in0), send(in0, to(1))]], [[recv(out0, to(0))]]], { inPlace: true }),
    facts: { rank: 0, block: 0, step: 1, writer: { rank: 0, block: 0, step: 0 } },
  },
  {
    code: "DATA_RACE",
    says: "blocks of a rank are ordered by dependencies",
    accepted: broadcast([[[copy(tmp0, in0)], [after(copy(out0, tmp0), { block: 0, step: 0 }), send(in0, to(1))]], [[recv(out0, to(0))]]]),
    refused: broadcast([[[copy(tmp0, in0)], [copy(out0, tmp0), send(in0, to(1))]], [[recv(out0, to(0))]]]),
    facts: { other: { rank: 0, block: 0, step: 0 } },
  },
  {
    code: "DATA_RACE",
    says: "direct readers wait for the signal of the writer",
    accepted: broadcast([
      [[copy(out0, in0), copy(tmp0, in0), signal(to(1))]],
      [[awaitSignal(to(0)), multiReduceCopy([on(1, out0)], [on(0, tmp0)])]],
    ]),
    refused: broadcast([
      [[copy(out0, in0), signal(to(1)), copy(tmp0, in0)]],
      [[awaitSignal(to(0)), multiReduceCopy([on(1, out0)], [on(0, tmp0)])]],
    ]),
  },
  {
    code: "DATA_RACE",
    says: "in place, nobody overwrites an input that another rank still reads",
    accepted: oneShot({ inPlace: false }),
    refused: oneShot({ inPlace: true }),
    facts: { mode: "in place" },
  },
  {
    code: "DATA_RACE",
    says: "a free slot orders nothing, since an engine may have more of them",
    accepted: waitingForSlots({ withSignal: true }),
    refused: waitingForSlots({ withSignal: false }),
  },
  {
    code: "MISPLACED_CHUNK",
    says: "data on its way doesn't rest where chunks are shorter",
    accepted: broadcast([[[copy(out0, in0, 2), copy(tmp0, in0), send(in0, to(1), 2)]], [[recv(out0, to(0), 2)]]], { chunksPerSegment: 2 }),
    refused: broadcast([[[copy(output(1), in0), copy(out0, in0, 2), send(in0, to(1), 2)]], [[recv(out0, to(0), 2)]]], {
      chunksPerSegment: 2,
    }),
    facts: { rank: 0, block: 0, step: 0 },
  },
  {
    code: "BAD_FINISH",
    says: "only a complete reduction is finished",
    accepted: chainOfThree([false, true]),
    refused: chainOfThree([true, false]),
    facts: { rank: 0, block: 0, step: 0 },
  },
  {
    code: "POSTCONDITION",
    says: "a reduction is finished, so that avg divides",
    accepted: chainOfThree([false, true]),
    refused: chainOfThree([false, false]),
  },
  {
    code: "POSTCONDITION",
    says: "each input is counted once",
    accepted: reduceOfTwo([send(in0, to(0))], [recvReduceCopy(out0, in0, to(1))]),
    refused: reduceOfTwo([send(in0, to(0)), send(in0, to(0))], [recvReduceCopy(out0, in0, to(1)), recvReduceCopy(out0, out0, to(1))]),
    facts: {
      rank: 0,
      chunk: 0,
      holds: "input 0 of rank 0 + 2 × input 0 of rank 1",
      expected: "input 0 of rank 0 + input 0 of rank 1, finished",
    },
  },
  {
    code: "POSTCONDITION",
    says: "every output is written",
    accepted: broadcast(passMessage),
    refused: broadcast([[[copy(out0, in0), send(in0, to(1))]], [[recv(tmp0, to(0))]]]),
    facts: { rank: 1, chunk: 0, holds: "nothing" },
  },
  {
    code: "POSTCONDITION",
    says: "an output holds the right rank's data",
    accepted: allGatherOfTwo([0, 1]),
    refused: allGatherOfTwo([1, 0]),
  },
  {
    code: "BARRIER",
    says: "nobody leaves a barrier before everybody has come",
    accepted: program("barrier", [[[signal(to(1)), awaitSignal(to(1))]], [[awaitSignal(to(0)), signal(to(0))]]]),
    refused: program("barrier", [[[signal(to(1))]], [[awaitSignal(to(0))]]]),
    facts: { rank: 0, missing: 1 },
  },
];

/** Both ranks send `times` signals before they receive any. */
function exchangeSignals(times: number): (readonly Step[])[][] {
  return [1, 0].map((peer) => [[...Array<Step>(times).fill(signal(to(peer))), ...Array<Step>(times).fill(awaitSignal(to(peer)))]]);
}

function oneShot({ inPlace }: { inPlace: boolean }): Program {
  const ranks = [0, 1].map((rank) => [[{ ...multiReduceCopy([on(rank, out0)], [on(0, in0), on(1, in0)]), finish: true }]]);
  return program("all-reduce", ranks, { inPlace });
}

/**
 * Rank 1 reads rank 0's scratch before its second receive. With one slot, rank 0's third signal has to wait for that
 * receive, so that the write after it would come after the read; with two slots it wouldn't.
 */
function waitingForSlots({ withSignal }: { withSignal: boolean }): Program {
  const read = multiReduceCopy([on(1, out0)], [on(0, tmp0)]);
  const thenWrite = withSignal ? [awaitSignal(to(1)), copy(tmp0, in0)] : [copy(tmp0, in0)];
  return broadcast(
    [
      [[copy(out0, in0), copy(tmp0, in0), signal(to(1)), signal(to(1)), signal(to(1)), ...thenWrite]],
      [[awaitSignal(to(0)), read, ...(withSignal ? [signal(to(0))] : []), awaitSignal(to(0)), awaitSignal(to(0))]],
    ],
    { slotCount: 1 },
  );
}

/** Rank 0 reduces three inputs one after the other; says which of its two steps are marked. */
function chainOfThree([first, second]: [boolean, boolean]): Program {
  const mark = (step: Step, finish: boolean): Step => (finish ? { ...step, finish } : step);
  return program(
    "reduce",
    [
      [[mark(recvReduceCopy(out0, in0, to(1)), first), mark(recvReduceCopy(out0, out0, to(2)), second)]],
      [[send(in0, to(0))]],
      [[send(in0, to(0))]],
    ],
    { root: 0 },
  );
}

function reduceOfTwo(sender: Step[], root: Step[]): Program {
  const marked = root.map((step, index) => (root.length === 1 && index === 0 ? { ...step, finish: true } : step));
  return program("reduce", [[marked], [sender]], { root: 0 });
}

function allGatherOfTwo([own, other]: [number, number]): Program {
  const ranks = [0, 1].map((rank) => [
    [send(in0, to(1 - rank)), copy(output(rank === 0 ? own : other), in0), recv(output(rank === 0 ? other : own), to(1 - rank))],
  ]);
  return program("all-gather", ranks);
}

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
