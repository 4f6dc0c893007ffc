import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { submissionRingLayout as layout, wordAt } from "../src/layout.js";
import {
  attachLeaderBroadcast,
  BroadcastLeader,
  BroadcastReader,
  createLeaderBroadcast,
  leaderBroadcastBytes,
} from "../src/leader-broadcast.js";
import { sharedWords } from "../src/shared-words.js";
import { attachSpmcSubmission, createSpmcSubmission, SpmcConsumer, SpmcProducer, spmcSubmissionBytes } from "../src/spmc-submission.js";
import { type ReadMode, SubmissionConsumer } from "../src/submission-consumer.js";
import { SubmissionProducer } from "../src/submission-producer.js";
import { attachSubmissionRing, createSubmissionRing, submissionRingBytes } from "../src/submission-ring.js";
import { sampleSqe } from "./support/entries.js";

// Just below every place where some counter wraps: sequence, low half, payload of the position, exact Numbers.
const firstPositions = [0, 65533, 2 ** 31 - 3, 2 ** 32 - 3, 2 ** 48 - 3, 2 ** 53 - 100];

function memory(bytes: number) {
  // Rubbish, so that a queue that relies on zeroed memory is found out.
  const buffer = new SharedArrayBuffer(bytes);
  new Uint8Array(buffer).fill(0xa5);
  return sharedWords(buffer);
}

describe.each<ReadMode>(["tail", "words"])("submission ring read by the %s", (mode) => {
  it.each(firstPositions)("behaves like a bounded queue, whatever is done in whatever order (first position %d)", (first) => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("submit" as const), producer: fc.integer({ min: 0, max: 1 }), count: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ kind: fc.constant("take" as const), count: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ kind: fc.constant("peek and pop" as const), count: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ kind: fc.constant("new leader" as const) }),
    );
    fc.assert(
      fc.property(fc.constantFrom(1, 2, 4), fc.array(step, { maxLength: 60 }), (capacity, steps) => {
        const ring = createSubmissionRing(memory(submissionRingBytes(capacity)), capacity, first);
        const producers = [new SubmissionProducer(ring, 1), new SubmissionProducer(attachSubmissionRing(ring.words), 2)];
        let leader = new SubmissionConsumer(ring, mode);
        const queue: number[] = []; // not released
        let unread = 0; // at the end of `queue`
        let run = 0;
        for (const each of steps) {
          if (each.kind === "submit") {
            const batch = Array.from({ length: each.count }, (_, i) => sampleSqe(run + i));
            const outcome = producers[each.producer]?.submit(batch);
            const fits = queue.length + each.count <= capacity;
            expect(outcome).toEqual(fits ? { ok: true } : { ok: false, reason: "full" });
            if (!fits) continue;
            for (const sqe of batch) queue.push(sqe.run);
            run += each.count;
            unread += each.count;
          } else if (each.kind === "new leader") {
            leader = new SubmissionConsumer(ring, mode);
            unread = queue.length; // what was popped and not released is read again
          } else {
            for (let i = 0; i < each.count; i++) {
              const expected = unread === 0 ? undefined : sampleSqe(queue[queue.length - unread] ?? -1);
              if (each.kind === "take") {
                expect(leader.take()).toEqual(expected);
              } else {
                expect(leader.peek()).toEqual(expected);
                if (expected !== undefined) leader.pop();
              }
              if (expected !== undefined) unread--;
              if (each.kind === "take") queue.splice(0, queue.length - unread);
            }
          }
        }
      }),
    );
  });
});

describe("submission ring", () => {
  it("answers busy while another producer holds the lock, and changes nothing", () => {
    const ring = createSubmissionRing(memory(submissionRingBytes(4)), 4);
    const [first, second] = [new SubmissionProducer(ring, 1), new SubmissionProducer(ring, 2)];
    expect(first.tryReserve(1)).toEqual({ ok: true });
    expect(second.submit([sampleSqe(1)])).toEqual({ ok: false, reason: "busy" });
    first.write(0, sampleSqe(7));
    first.publish(1);
    expect(second.submit([sampleSqe(8)])).toEqual({ ok: true });
    const leader = new SubmissionConsumer(ring);
    expect([leader.take()?.run, leader.take()?.run, leader.take()]).toEqual([7, 8, undefined]);
  });

  it("carries the tail into the high half in one step that no reader can see torn", () => {
    const ring = createSubmissionRing(memory(submissionRingBytes(4)), 4, 2 ** 32 - 1);
    const leader = new SubmissionConsumer(ring);
    new SubmissionProducer(ring, 1).submit([sampleSqe(1)]);
    expect(ring.words.load64(wordAt(layout.tail))).toBe(2n ** 32n);
    expect(leader.take()?.run).toBe(1);
    expect(ring.words.load64(wordAt(layout.head))).toBe(2n ** 32n);
  });

  it.each([0, 3, 65536, -8, 2.5])("refuses the capacity %d by name", (capacity) => {
    expect(() => createSubmissionRing(memory(4096), capacity)).toThrowError(
      expect.objectContaining({
        code: "QUEUE_MISUSE",
        facts: expect.objectContaining({ capacity }),
        remedy: expect.stringContaining("power of two"),
      }),
    );
  });

  it("refuses an owner number that means unlocked, and memory that lies outside the buffer", () => {
    const ring = createSubmissionRing(memory(submissionRingBytes(4)), 4);
    expect(() => new SubmissionProducer(ring, 0)).toThrowError(expect.objectContaining({ code: "QUEUE_MISUSE" }));
    expect(() => sharedWords(new ArrayBuffer(64), 32, 64)).toThrowError(expect.objectContaining({ code: "QUEUE_MISUSE" }));
    expect(() => sharedWords(new ArrayBuffer(64), 4)).toThrowError(expect.objectContaining({ code: "QUEUE_MISUSE" }));
  });
});

describe.each(firstPositions.slice(0, -1))("queues that every block reads, from position %d", (first) => {
  const blockCount = 3;
  const anyOrder = fc.array(fc.integer({ min: 0, max: blockCount }), { maxLength: 80 });

  it("leader broadcast: every block sees the same sequence, the slowest bounds the leader", () => {
    fc.assert(
      fc.property(fc.constantFrom(1, 2, 4), anyOrder, (capacity, order) => {
        const ring = createLeaderBroadcast(memory(leaderBroadcastBytes(capacity, blockCount)), capacity, blockCount, first);
        const leader = new BroadcastLeader(ring);
        const readers = Array.from({ length: blockCount }, (_, block) => new BroadcastReader(attachLeaderBroadcast(ring.words), block));
        const seen = new Array<number>(blockCount).fill(0);
        let sent = 0;
        for (const who of order) {
          if (who === blockCount) {
            const hasRoom = sent - Math.min(...seen) < capacity;
            expect(leader.hasRoom()).toBe(hasRoom);
            expect(leader.tryPublish(sampleSqe(sent)).ok).toBe(hasRoom);
            if (hasRoom) sent++;
          } else {
            const at = seen[who] ?? 0;
            expect(readers[who]?.take()).toEqual(at < sent ? sampleSqe(at) : undefined);
            if (at < sent) seen[who] = at + 1;
          }
        }
      }),
    );
  });

  it("SPMC submission: every block sees the same sequence, the slowest bounds the producer", () => {
    fc.assert(
      fc.property(fc.constantFrom(2, 4), anyOrder, (capacity, order) => {
        const ring = createSpmcSubmission(memory(spmcSubmissionBytes(capacity)), capacity, blockCount, first);
        const producer = new SpmcProducer(ring, first);
        const blocks = Array.from({ length: blockCount }, () => new SpmcConsumer(attachSpmcSubmission(ring.words), first));
        const seen = new Array<number>(blockCount).fill(0);
        let sent = 0;
        for (const who of order) {
          if (who === blockCount) {
            const hasRoom = sent - Math.min(...seen) < capacity;
            expect(producer.trySubmit(sampleSqe(sent)).ok).toBe(hasRoom);
            if (hasRoom) sent++;
          } else {
            const at = seen[who] ?? 0;
            expect(blocks[who]?.take()).toEqual(at < sent ? sampleSqe(at) : undefined);
            if (at < sent) seen[who] = at + 1;
          }
        }
      }),
    );
  });
});
