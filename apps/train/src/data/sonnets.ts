import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { DataMissingError } from "../errors.js";
import { textFile } from "../shipped-file.js";
import type { RecordFile } from "./record-file.js";

/**
 * Twenty-six of Shakespeare's sonnets (1609, in the public domain), as overlapping records of some characters each: one begins
 * at every character. The last tenth is for testing.
 * @throws {DataMissingError}
 */
export function prepareText(_folder: string, recordBytes: number): RecordFile {
  const path = fileURLToPath(textFile("sonnets.txt"));
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
  const testOffset = Math.floor(0.9 * size);
  if (testOffset < recordBytes) throw new DataMissingError(`The text ${path} is missing or too short`, "npm install @dfccl/train --force");
  return {
    path,
    recordBytes,
    stride: 1,
    trainCount: testOffset - recordBytes + 1,
    testCount: size - testOffset - recordBytes + 1,
    // One beside the other.
    testStep: recordBytes - 1,
    testOffset,
  };
}
