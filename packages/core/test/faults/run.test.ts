import { createProgram } from "@dfccl/primitives";
import { describe, expect, it } from "vitest";
import { openWorld } from "../../src/index.js";
import { base, expectFault, thrownBy, untyped } from "../support/faults.js";
import { failureOf, rankOf } from "../support/open.js";

describe("running", () => {
  const four = (): Float32Array => new Float32Array(4);
  const detached = (): Float32Array => {
    const view = four();
    structuredClone(view, { transfer: [view.buffer as ArrayBuffer] });
    return view;
  };
  const eight = new Float32Array(8);
  interface Fault {
    readonly name: string;
    readonly buffers: readonly [send: unknown, recv: unknown];
    readonly buffer: "send" | "recv";
    readonly facts?: Readonly<Record<string, unknown>>;
  }
  const faults: readonly Fault[] = [
    { name: "no send buffer", buffers: [undefined, four()], buffer: "send", facts: { elements: 4 } },
    { name: "null as a receive buffer", buffers: [four(), null], buffer: "recv" },
    { name: "a buffer that is too short", buffers: [four(), new Float32Array(3)], buffer: "recv", facts: { length: 3, elements: 4 } },
    {
      name: "a buffer of another type",
      buffers: [new Float64Array(4), four()],
      buffer: "send",
      facts: { given: "Float64Array", expected: "Float32Array" },
    },
    { name: "an ArrayBuffer", buffers: [new ArrayBuffer(16), four()], buffer: "send", facts: { given: "ArrayBuffer" } },
    { name: "an array", buffers: [[1, 2, 3, 4], four()], buffer: "send", facts: { given: "Array" } },
    { name: "a DataView", buffers: [new DataView(new ArrayBuffer(16)), four()], buffer: "send", facts: { given: "DataView" } },
    { name: "a detached buffer", buffers: [four(), detached()], buffer: "recv", facts: { detached: true } },
    { name: "a resizable buffer", buffers: [new Float32Array(resizable(16)), four()], buffer: "send" },
    { name: "buffers that overlap by a half", buffers: [eight.subarray(0, 4), eight.subarray(2, 6)], buffer: "recv" },
    { name: "buffers that overlap by one element", buffers: [eight.subarray(4), eight.subarray(1, 5)], buffer: "recv" },
  ];
  it.each(faults)("with $name is refused", async ({ buffers: [send, recv], buffer, facts = {} }) => {
    using world = openWorld({ ranks: 1 });
    const collective = rankOf(world, 0).register(base);
    expectFault(
      thrownBy(() => rankOf(world, 0).submit([[collective, untyped(send), untyped(recv)]])),
      "BUFFER",
      { collective: "all-reduce 7 on rank 0", buffer, ...facts },
    );
    expectFault(await failureOf(collective.run(untyped(send), untyped(recv))), "BUFFER", { buffer });
    expect(rankOf(world, 0).pendingRuns).toBe(0);
    collective.unregister();
  });

  it("in place anywhere but in the rank's own segment is refused", () => {
    using world = openWorld({ ranks: 3 });
    const collective = rankOf(world, 1).register({ ...base, collective: "all-gather" });
    const whole = new Float32Array(12);
    expectFault(
      thrownBy(() => rankOf(world, 1).submit([[collective, whole.subarray(0, 4), whole]])),
      "BUFFER",
    );
    rankOf(world, 1).submit([[collective, whole.subarray(4, 8), whole]]);
  });

  it("a custom program in place is refused", () => {
    using world = openWorld({ ranks: 1 });
    const copy = { op: "copy", src: { buffer: "input", chunk: 0 }, dst: { buffer: "output", chunk: 0 }, count: 1 } as const;
    const blocks = [[copy]];
    const segments = { chunksPerSegment: 1, inputSegments: 1, outputSegments: 1 };
    const program = createProgram({ collective: "custom", ...segments, inPlace: false, outOfPlace: true, ranks: [{ blocks }] });
    const collective = rankOf(world, 0).register({ ...base, collective: "custom", program });
    const x = four();
    expectFault(
      thrownBy(() => rankOf(world, 0).submit([[collective, x, x]])),
      "BUFFER",
    );
  });

  it("one bad request of many refuses all of them, and none runs", async () => {
    using world = openWorld({ ranks: 1 });
    const collective = rankOf(world, 0).register(base);
    const [x, y] = [four().fill(1), four()];
    expectFault(
      thrownBy(() =>
        rankOf(world, 0).submit([
          [collective, x, y],
          [collective, x, undefined],
        ]),
      ),
      "BUFFER",
    );
    expect(rankOf(world, 0).pendingRuns).toBe(0);
    expect([...y]).toEqual([0, 0, 0, 0]);
    await collective.run(x, y);
    expect([...y]).toEqual([1, 1, 1, 1]);
    collective.unregister();
  });

  it("another rank's collective, or none at all, is refused", () => {
    using world = openWorld({ ranks: 2 });
    const theirs = rankOf(world, 1).register(base);
    for (const collective of [theirs, undefined, null, {}]) {
      expectFault(
        thrownBy(() => rankOf(world, 0).submit([[untyped(collective), four(), four()]])),
        "INVALID_ARGUMENT",
        { argument: "collective" },
      );
    }
  });

  it.each([undefined, null, 5, {}, [null]])("in a list that is %o is refused, where it would never end", (requests) => {
    using world = openWorld({ ranks: 1 });
    expectFault(
      thrownBy(() => rankOf(world, 0).submit(untyped(requests))),
      "INVALID_ARGUMENT",
    );
  });

  it("with a callback that is no function, or options that are no object, is refused before anything is submitted", async () => {
    using world = openWorld({ ranks: 1 });
    const collective = rankOf(world, 0).register(base);
    expectFault(
      thrownBy(() => rankOf(world, 0).submit([[collective, four(), four()]], { onComplete: untyped(5) })),
      "INVALID_ARGUMENT",
      { argument: "onComplete" },
    );
    expectFault(await failureOf(collective.run(four(), four(), untyped(null))), "INVALID_ARGUMENT", { argument: "options" });
    expect(collective.explain()[0]?.submitted).toBe(0);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])("with a timeout of %s is refused", async (timeoutMs) => {
    using world = openWorld({ ranks: 1 });
    const collective = rankOf(world, 0).register(base);
    expectFault(await failureOf(collective.run(four(), four(), { timeoutMs })), "INVALID_ARGUMENT", { argument: "timeoutMs" });
    expectFault(
      thrownBy(() => rankOf(world, 0).synchronizeBlocking(timeoutMs)),
      "INVALID_ARGUMENT",
    );
  });
});

/** Node 20 has resizable buffers; TypeScript's library of that year has not. */
function resizable(bytes: number): ArrayBuffer {
  const Resizable = ArrayBuffer as new (bytes: number, options: { maxByteLength: number }) => ArrayBuffer;
  return new Resizable(bytes, { maxByteLength: 2 * bytes });
}
