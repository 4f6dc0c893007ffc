import fc from "fast-check";
import { expect, it } from "vitest";
import { Fifo } from "../../src/actors/fifo.js";

it("a queue gives back what a list does", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer(), { nil: undefined })), (steps) => {
      const [queue, list]: [Fifo<number>, number[]] = [new Fifo(), []];
      for (const step of steps) {
        if (step === undefined) expect(queue.shift()).toBe(list.shift());
        else {
          queue.push(step);
          list.push(step);
        }
        expect([queue.length, queue.first]).toEqual([list.length, list[0]]);
      }
    }),
  );
});

it("a long queue keeps its order", () => {
  const queue = new Fifo<number>();
  for (let item = 0; item < 2 ** 20; item += 1) queue.push(item);
  for (let item = 0; item < 2 ** 20; item += 1) {
    if (queue.first !== item || queue.shift() !== item) throw new Error(`not ${item}`);
  }
  expect(queue.length).toBe(0);
});
