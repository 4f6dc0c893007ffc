import { describe, expect, it } from "vitest";
import { RecentBuffers } from "../src/recent-buffers.js";

const mebibytes = (count: number): Uint8Array => new Uint8Array(count * 2 ** 20);

class Holder {
  isHolding = true;
  letGo(): void {
    this.isHolding = false;
  }
}

function noteAll(recent: RecentBuffers, buffers: readonly Uint8Array[]): Holder[] {
  return buffers.map((buffer) => {
    const holder = new Holder();
    recent.note(holder, buffer, buffer);
    return holder;
  });
}

const holdingOf = (holders: readonly Holder[]): boolean[] => holders.map(({ isHolding }) => isHolding);

describe("the buffers that a rank holds", () => {
  it("are the newest ones, 16 MiB of memory in all", () => {
    const holders = noteAll(new RecentBuffers(), [6, 6, 4, 6].map(mebibytes));
    expect(holdingOf(holders)).toEqual([false, true, true, true]);
  });

  it("aren't those of one that alone holds more, nor do they go for it", () => {
    const recent = new RecentBuffers();
    const holders = noteAll(recent, [1, 1, 40].map(mebibytes));
    expect(holdingOf(holders)).toEqual([true, true, false]);
    const next = noteAll(recent, [14].map(mebibytes));
    expect(holdingOf([...holders, ...next])).toEqual([true, true, false, true]);
  });

  it("count as all of the memory that they are a part of, once for both", () => {
    const whole = mebibytes(8);
    const recent = new RecentBuffers();
    const [first, second, third] = [new Holder(), new Holder(), new Holder()];
    recent.note(first, whole.subarray(0, 1), whole.subarray(1, 2));
    recent.note(second, whole.subarray(3, 4), undefined);
    expect([first.isHolding, second.isHolding]).toEqual([true, true]);
    recent.note(third, null, new Uint8Array(1));
    expect([first.isHolding, second.isHolding, third.isHolding]).toEqual([false, true, true]);
  });

  it("of one that has got others count once", () => {
    const recent = new RecentBuffers();
    const [again, other] = [new Holder(), new Holder()];
    recent.note(other, mebibytes(8), undefined);
    for (let i = 0; i < 5; i += 1) recent.note(again, mebibytes(8), undefined);
    expect([other.isHolding, again.isHolding]).toEqual([true, true]);
    recent.drop(again);
    recent.note(new Holder(), mebibytes(8), undefined);
    expect(other.isHolding).toBe(true);
  });

  it("are none once it is cleared", () => {
    const recent = new RecentBuffers();
    const holders = noteAll(recent, [1, 1].map(mebibytes));
    recent.clear();
    expect(holdingOf(holders)).toEqual([false, false]);
  });
});
