import { bufferKinds, collectives, dataTypes, ops, programLayout, protocols, reduceOps } from "@dfccl/primitives";
import { CompletionStatus, ownedSlotsLayout, submissionRingLayout } from "@dfccl/queues";
import { POLICY_BYTES, policyOffsets } from "@dfccl/scheduler";
import { describe, expect, it } from "vitest";
import { blockCounterNames, rankCounterNames } from "../src/counters.js";
import { statusCodes } from "../src/native-addon/native-error.js";
import { nativeAddon } from "../src/native-addon/native-world.js";
import { controlRingLayout, cqeCompleted } from "../src/rank-queues.js";

const { codes, ...records } = nativeAddon().layout();
const word = 8;

/** A record's fields and size as the engine has them. */
function engineRecord(name: string): Record<string, number> {
  return { ...records[name] };
}

const numbered = (names: readonly string[]): Record<string, number> => Object.fromEntries(names.map((name, code) => [name, code]));

describe("the engine's memory", () => {
  it("has every program record where @dfccl/primitives writes it", () => {
    const expected = Object.entries(programLayout).map(([record, { size, fields }]) => {
      const offsets = Object.entries<{ offset: number }>(fields).flatMap(([field, { offset }]) =>
        field.startsWith("reserved") ? [] : [[field, offset] as const],
      );
      return [record, { size, ...Object.fromEntries(offsets) }];
    });
    const actual = Object.keys(programLayout).map((record) => [record, engineRecord(record)]);
    expect(actual).toEqual(expected);
  });

  it("has the queues where @dfccl/queues reads them", () => {
    const { entries, entryBytes, maxCapacity: _, ...ringFields } = submissionRingLayout;
    expect(engineRecord("SubmissionRingHeader")).toEqual({ size: entries, ...ringFields });
    expect(engineRecord("SqeMemory")).toEqual({ size: entryBytes });
    const { slots, ...slotFields } = ownedSlotsLayout;
    expect(engineRecord("OwnedSlotsHeader")).toEqual({ size: slots, ...slotFields });
  });

  it("has the requests of the host where its queues look for them", () => {
    const { size: _, ...fields } = engineRecord("ControlRing");
    expect(fields).toEqual(controlRingLayout);
  });

  it("has the schedule policy where @dfccl/scheduler writes it", () => {
    expect(engineRecord("SchedulePolicy")).toEqual({ size: POLICY_BYTES, ...policyOffsets });
  });

  it("has counters in the order in which they are read", () => {
    const inOrder = (names: readonly string[]): Record<string, number> => Object.fromEntries(names.map((name, i) => [name, i * word]));
    const { size: blockBytes, ...blockCounters } = engineRecord("BlockCounters");
    expect(blockCounters).toEqual(inOrder(blockCounterNames));
    expect(blockBytes).toBeGreaterThanOrEqual(blockCounterNames.length * word);
    const { size: rankBytes, ...rankCounters } = engineRecord("RankCounters");
    expect(rankCounters).toEqual(inOrder(rankCounterNames));
    expect(rankBytes).toBeGreaterThanOrEqual(rankCounterNames.length * word);
  });
});

describe("the engine's codes", () => {
  it("are those of the TypeScript side", () => {
    expect(codes).toEqual({
      DataType: numbered(dataTypes),
      ReduceOp: numbered(reduceOps),
      Collective: numbered(collectives),
      // The engine may have more, which no program of TypeScript's is written with.
      Protocol: expect.objectContaining(numbered(protocols)) as unknown,
      Op: numbered(ops),
      BufferKind: numbered([...bufferKinds, "none"]),
      CqeStatus: { free: 0, ...CompletionStatus },
      Status: numbered(statusCodes),
    });
    expect(cqeCompleted).toBe(CompletionStatus.completed);
  });
});
