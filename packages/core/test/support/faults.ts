import { expect } from "vitest";
import { type CollectiveOptions, DfcclError } from "../../src/index.js";

/** What most of these tests register. */
export const base: CollectiveOptions = { id: 7, collective: "all-reduce", dataType: "float32", count: 4 };

/** Checks that an error is of the one family, says what to do, and has this code and these facts. */
export function expectFault(error: unknown, code: string, facts: Readonly<Record<string, unknown>> = {}): void {
  expect(error).toBeInstanceOf(DfcclError);
  const fault = error as DfcclError;
  expect(fault.code).toBe(code);
  expect(fault.facts).toMatchObject(facts);
  expect(fault.remedy).toMatch(/^[A-Z`].*\.$/s);
  expect(fault.message).toContain(fault.remedy);
}

export function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error("it should have thrown");
}

/** What JavaScript may pass although TypeScript wouldn't let it. */
export function untyped(value: unknown): never {
  return value as never;
}
