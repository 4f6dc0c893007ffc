import {
  attachSubmissionRing,
  createOwnedSlots,
  createSubmissionRing,
  ownedSlotsBytes,
  SQE_AFTER_CONTROL,
  SubmissionConsumer,
  sharedWords,
  submissionRingBytes,
} from "@dfccl/queues";
import { describe, expect, it } from "vitest";
import { openWorld } from "../src/index.js";
import { RankQueues } from "../src/rank-queues.js";
import { engineOf } from "../src/world.js";
import { base } from "./support/faults.js";
import { rankOf } from "./support/open.js";

const capacity = 16;

/** A rank's queues over memory of the test's own; the leader reads tail or words, as on a CPU or a GPU. */
function ownQueues(mode: "tail" | "words") {
  const submissions = new ArrayBuffer(submissionRingBytes(capacity));
  const completions = new ArrayBuffer(ownedSlotsBytes(capacity));
  const control = new BigUint64Array(2);
  const ring = createSubmissionRing(sharedWords(submissions), capacity);
  createOwnedSlots(sharedWords(completions), capacity);
  const counters = mode === "tail" ? { counters: new ArrayBuffer(64) } : {};
  const queues = new RankQueues({
    submissions,
    completions,
    control: control.buffer,
    sleepers: new ArrayBuffer(4),
    sharedSlots: capacity,
    ownPlaces: true,
    ...counters,
  });
  return { queues, control, leader: new SubmissionConsumer(ring, mode) };
}

/** Of the entries of one batch, as the leader reads them. */
function flagsOfBatch({ queues, leader }: ReturnType<typeof ownQueues>, count: number): (number | undefined)[] {
  expect(queues.room(count)).toBe(count);
  queues.begin();
  for (let i = 0; i < count; i += 1) queues.write(5, 0x7f00_1234_5678, 0x7f00_1234_9999, 0x0102_0304, 0);
  queues.publish();
  return Array.from({ length: count }, () => leader.take()?.flags);
}

describe.each(["tail", "words"] as const)("a leader that goes by the %s", (mode) => {
  it("is told by every entry that requests come first, while there are some that it hasn't heard; control: else not", () => {
    const own = ownQueues(mode);
    expect(flagsOfBatch(own, 2)).toEqual([0, 0]);
    own.control[0] = 1n;
    expect(flagsOfBatch(own, 2)).toEqual([SQE_AFTER_CONTROL, SQE_AFTER_CONTROL]);
    own.control[1] = 1n;
    expect(flagsOfBatch(own, 2)).toEqual([0, 0]);
  });

  it("is told so also when the counters leave 32 bits", () => {
    const own = ownQueues(mode);
    own.control.set([2n ** 32n, 2n ** 32n - 1n]);
    expect(flagsOfBatch(own, 1)).toEqual([SQE_AFTER_CONTROL]);
    own.control[1] = 2n ** 32n;
    expect(flagsOfBatch(own, 1)).toEqual([0]);
  });

  it("reads the same buffers and windows of a run with the flag and without", () => {
    const own = ownQueues(mode);
    const read = () => {
      own.queues.begin();
      own.queues.write(7, 0x7f00_1234_5678, 0x7f00_1234_9999, 0x0102_0304, 0);
      own.queues.publish();
      const { flags: _, completionSlot: __, ...rest } = own.leader.take() ?? {};
      return rest;
    };
    const without = read();
    own.control[0] = 1n;
    expect(read()).toEqual(without);
  });
});

describe("a run that is submitted after an abort", () => {
  it("says so until the daemon has heard of the abort; control: those submitted before and afterwards don't", async () => {
    using world = openWorld({ ranks: 2, workers: 0 });
    const [zero, one] = [rankOf(world, 0), rankOf(world, 1)];
    const ring = attachSubmissionRing(sharedWords(engineOf(world).native.memory(0).submissions));
    /** Of the entries that the engine, which nobody drives between two statements here, hasn't read yet. */
    const flagsInQueue = (): number[] => {
      const reader = new SubmissionConsumer(ring);
      const flags: number[] = [];
      for (let sqe = reader.peek(); sqe !== undefined; sqe = reader.peek()) {
        flags.push(sqe.flags);
        reader.pop();
      }
      return flags;
    };
    const aborted = zero.register({ ...base, id: 1 });
    const [first, second] = [zero, one].map((rank) => rank.register({ ...base, id: 2 }));
    if (first === undefined || second === undefined) throw new Error("two ranks have registered");
    const four = (): Float32Array => new Float32Array(4);

    const before = zero.submit([[first, four(), four()]]);
    aborted.abort();
    const after = zero.submit([[first, four(), four()]]);
    expect(flagsInQueue()).toEqual([0, SQE_AFTER_CONTROL]);
    const all = [before, after, one.submit([[second, four(), four()]]), one.submit([[second, four(), four()]])];
    await Promise.all(all);
    const later = zero.submit([[first, four(), four()]]);
    expect(flagsInQueue()).toEqual([0]);
    await Promise.all([later, one.submit([[second, four(), four()]])]);
  });
});
