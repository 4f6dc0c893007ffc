import { collectiveCode, dataTypeCode, reduceOpCode } from "@dfccl/primitives";
import type { Rank, RegisteredCollective } from "../api.js";
import type { Backend } from "../backend.js";
import { callNative } from "../native-addon/native-error.js";
import { LocalCollective } from "../registered-collective.js";
import { type RegisteringRank, Registration } from "../registration.js";
import { bufferSegments } from "../run-check.js";
import type { MatchedGroup } from "./matched-group.js";
import { idOf, purposes, type Signature } from "./signature.js";

const noProgram = new Uint8Array(0);

interface Spec {
  readonly collective: Signature["collective"];
  readonly ranks: readonly number[];
  readonly root: number;
}

/** What the engine carries out, as native/src/matching/signature_table.cpp has it. */
function specOf({ collective, root, receiver }: Signature, { ranks }: MatchedGroup): Spec {
  if (collective !== "send-recv") return { collective, ranks, root };
  const [from, to] = [ranks[root] ?? 0, ranks[receiver] ?? 0];
  // To oneself it is a copy, by a rank alone.
  return root === receiver ? { collective: "broadcast", ranks: [from], root: 0 } : { collective, ranks: [from, to], root: 0 };
}

/**
 * Registers a signature on one rank, with the program that the engine chooses: the one that a C caller's rank would run.
 * @throws {EngineError}
 */
export function registerSignature(
  rank: Rank<Backend>,
  own: RegisteringRank,
  signature: Signature,
  group: MatchedGroup,
): { readonly collective: RegisteredCollective; readonly registration: Registration } {
  const { native } = own.engine;
  const { collective, ranks, root } = specOf(signature, group);
  const { dataType, op, count, purpose, tag } = signature;
  const id = callNative(() => idOf(signature, group.id));
  const handle = callNative(() =>
    native.register(own.number, {
      id,
      purpose: purposes.indexOf(purpose),
      tag: BigInt(tag),
      collective: collectiveCode(collective),
      dataType: dataTypeCode(dataType),
      op: reduceOpCode(op),
      count,
      root,
      scale: 1,
      priority: 0,
      ranks: Uint32Array.from(ranks),
      program: noProgram,
    }),
  );
  const member = ranks.indexOf(own.number);
  const { inPlace, outOfPlace, needsReach, staged } = callNative(() => native.placements(own.number, handle));
  const name = callNative(() => native.nameOf(own.number, handle));
  const registration = new Registration(
    own,
    handle,
    { id: Number(BigInt.asUintN(32, id.low)), collective, dataType, op, count, countPerRun: false, root, ranks, priority: 0 },
    bufferSegments(collective, ranks.length, member, root, { input: 0, output: 0 }),
    { inPlace, outOfPlace, usesDirect: needsReach, staged },
    {
      name: `${name} on rank ${own.number}`,
      remedy: "Drop the group on every rank and make another one.",
    },
  );
  registration.follow(callNative(() => native.runsBefore(own.number, handle)));
  own.engine.pump.kick();
  return { collective: new LocalCollective(rank, registration), registration };
}
