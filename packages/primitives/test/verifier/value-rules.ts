import { copy, output, recv, recvReduceCopy, send } from "../../src/builders/step-factory.js";
import type { Program, Step } from "../../src/index.js";
import { broadcast, in0, out0, passMessage, program, type Rule, tmp0, to } from "./programs.js";

/** What buffers hold on the way, and at the end. */
export const valueRules: readonly Rule[] = [
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
];

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
