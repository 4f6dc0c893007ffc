import { after, awaitSignal, copy, multiReduceCopy, on, recv, send, signal } from "../../src/builders/step-factory.js";
import type { Program, Step } from "../../src/index.js";
import { broadcast, in0, out0, program, type Rule, tmp0, to } from "./programs.js";

/** In which order things may happen: nobody waits for ever, and nobody reads what is being written. */
export const orderRules: readonly Rule[] = [
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
