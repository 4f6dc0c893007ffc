import { renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { FlightRecord } from "./flight-record.js";
import { makeFolder } from "./make-folder.js";

/** Writes a record as JSON: whole or not at all, whoever reads or dies meanwhile. Makes the folder where there is none. */
export function writeFlightRecord(path: string, record: FlightRecord): void {
  makeFolder(dirname(path));
  const unfinished = `${path}.${process.pid}`;
  try {
    writeFileSync(unfinished, `${JSON.stringify(record)}\n`);
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}
