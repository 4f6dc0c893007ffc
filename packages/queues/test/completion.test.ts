import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Completion, CompletionStatus, NO_COMPLETION_SLOT } from "../src/completion.js";
import { createOwnedSlots, ownedSlotsBytes } from "../src/completion-owned-slots.js";
import { attachCompletionQueue, completionGuarantees, completionQueueBytes, createCompletionQueue } from "../src/completion-queue.js";
import { completionQueueNames } from "../src/completion-roles.js";
import { sharedWords } from "../src/shared-words.js";

function memory(bytes: number) {
  const buffer = new SharedArrayBuffer(bytes);
  new Uint8Array(buffer).fill(0xa5);
  return sharedWords(buffer);
}

function completionOf(number: number): Completion {
  const status = number % 3 === 0 ? CompletionStatus.aborted : CompletionStatus.completed;
  return { id: (number * 2654435761) % 2 ** 32, status, run: number % 65536 };
}

const capacity = 8;
// Just below the wraps of 32-bit counters, of the low half of positions, and of the packed ring's 14-bit lap.
const firsts = [0, 2 ** 31 - 3, 2 ** 32 - 3, capacity * 2 ** 14 - 3];

describe.each(completionQueueNames)("%s", (name) => {
  it.each(firsts)("behaves like a bounded bag (or queue, where it is ordered), from %d", (first) => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("post 0", "post 1", "poll", "new poller"), { maxLength: 120 }), (steps) => {
        const queue = createCompletionQueue(name, memory(completionQueueBytes(name, capacity)), capacity, first);
        const claimer = queue.claimer();
        const producers = [queue.producer(), attachCompletionQueue(name, queue.words).producer()];
        let poller = queue.poller();
        const waiting: Completion[] = [];
        let number = 0;
        for (const step of steps) {
          if (step === "new poller") {
            poller = queue.poller();
          } else if (step === "poll") {
            const found = poller.poll();
            if (waiting.length === 0) {
              expect(found).toBeUndefined();
              continue;
            }
            if (queue.guarantees.ordered) expect(found).toEqual(waiting[0]);
            const at = waiting.findIndex((each) => JSON.stringify(each) === JSON.stringify(found));
            expect(at).toBeGreaterThanOrEqual(0);
            waiting.splice(at, 1);
          } else {
            const completion = completionOf(number++);
            const slot = claimer.tryClaim();
            const hasRoom = waiting.length < capacity;
            if (queue.guarantees.needsClaim) expect(slot !== undefined).toBe(hasRoom);
            else expect(slot).toBe(NO_COMPLETION_SLOT);
            if (slot === undefined) continue;
            expect(producers[step === "post 0" ? 0 : 1]?.post(slot, completion).ok).toBe(hasRoom);
            if (hasRoom) waiting.push(completion);
          }
        }
      }),
    );
  });

  it("says what it needs and gives", () => {
    expect(completionGuarantees(name)).toMatchSnapshot();
  });
});

describe("owned slots", () => {
  it("lets the submitter's record of a slot be read before the slot is free again", () => {
    const queue = createOwnedSlots(memory(ownedSlotsBytes(8)), 8);
    const claimer = queue.claimer();
    const slots = Array.from({ length: 8 }, () => claimer.tryClaim() ?? -1);
    expect(slots).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    for (const slot of [6, 2, 5]) queue.producer().post(slot, completionOf(slot));
    const poller = queue.poller();
    const visited: number[] = [];
    expect(
      poller.drain((slot, id, status, run) => {
        visited.push(slot);
        expect({ id, status, run }).toEqual(completionOf(slot));
      }),
    ).toBe(3);
    expect(visited).toEqual([2, 5, 6]);
    expect(claimer.tryClaim()).toBeUndefined();
    for (const slot of visited) poller.free(slot);
    expect(claimer.freeCount).toBe(3);
    expect([claimer.tryClaim(), claimer.tryClaim(), claimer.tryClaim(), claimer.tryClaim()]).toEqual([2, 5, 6, undefined]);
  });

  it("visits no more than asked and goes on from there", () => {
    const queue = createOwnedSlots(memory(ownedSlotsBytes(8)), 8);
    for (let i = 0; i < 8; i++) queue.producer().post(queue.claimer().tryClaim() ?? -1, completionOf(i));
    const poller = queue.poller();
    const visited: number[] = [];
    while (poller.drain((slot) => visited.push(slot), 3) > 0);
    expect(visited).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });
});
