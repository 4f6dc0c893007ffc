import { after, awaitSignal, copy, input, multiReduceCopy, on, output, recv, send, signal } from "../../src/builders/step-factory.js";
import type { Step } from "../../src/index.js";
import { broadcast, in0, out0, passMessage, program, type Rule, tmp0, to } from "./programs.js";

/** Rank 0 writes to rank 1's output; from what it has written to its own, if that comes first. */
const passDirectly = (afterOwn: boolean): (readonly Step[])[][] => {
  const toOther = multiReduceCopy([on(1, out0)], [on(0, afterOwn ? out0 : in0)]);
  return [[[copy(out0, in0)], [afterOwn ? { ...toOther, dependsOn: [{ block: 0, step: 0 }] } : toOther]], [[]]];
};

/** What a program must look like, before anybody asks what it does. */
export const formRules: readonly Rule[] = [
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
];
