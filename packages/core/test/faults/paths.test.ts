import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { type FlightRecord, makeFolder, writeFlightRecord } from "../../src/index.js";
import { nativeAddon } from "../../src/native-addon/native-world.js";
import { expectFault, thrownBy, untyped } from "../support/faults.js";

const record: FlightRecord = { version: "2.10", pg_config: {}, pg_status: {}, entries: [] };
const folder = mkdtempSync(join(tmpdir(), "dfccl-paths-"));
afterAll(() => rmSync(folder, { recursive: true }));

// The engine would make a text of it, and a file of that name.
it.each([5, null, undefined, {}, [], "", "a\0b"])("%j names no file and no folder", (path) => {
  for (const act of [() => writeFlightRecord(untyped(path), record), () => makeFolder(untyped(path))]) {
    expectFault(thrownBy(act), "INVALID_ARGUMENT", { argument: "path" });
  }
  if (typeof path !== "string") expect(() => nativeAddon().writeFlightRecord(untyped(path), "{}")).toThrow("no text");
  if (typeof path !== "string") expect(existsSync(String(path))).toBe(false);
});

it.each([undefined, null, 5, "x"])("%j is no flight record", (nothing) => {
  const path = join(folder, "record");
  expectFault(
    thrownBy(() => writeFlightRecord(path, untyped(nothing))),
    "INVALID_ARGUMENT",
    { argument: "record" },
  );
  expect(readdirSync(folder)).toEqual([]);
});
